package scenarios

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"redlocksim/checker"
	"redlocksim/internal/strictyaml"
)

// Findings are kinds of findings in the checker's order; empty is "safe".
type Findings []checker.Kind

// Safe is the word for no findings.
const Safe = "safe"

func (f Findings) String() string {
	if len(f) == 0 {
		return Safe
	}
	words := make([]string, len(f))
	for i, k := range f {
		words[i] = string(k)
	}
	return strings.Join(words, ", ")
}

// kinds are the findings that a file can expect, in the checker's order.
func kinds() []checker.Kind {
	return []checker.Kind{checker.LeaseOverlap, checker.StaleWrite, checker.AcceptedAfterExpiry, checker.LostUpdate,
		checker.TokenRegressed, checker.TokenRepeated, checker.Conduct, checker.Contract, checker.Refinement, checker.Unprotected,
		checker.Leftover, checker.NeedlesslyUnavailable, checker.BusyWait, checker.HolderRefused}
}

// MarshalNode is the counterpart of UnmarshalNode.
func (f Findings) MarshalNode(e *strictyaml.Encoder) *yaml.Node {
	for _, kind := range f {
		if !slices.Contains(kinds(), kind) {
			e.Errorf("no file can expect the finding %q", kind)
		}
	}
	if len(f) < 2 {
		return strictyaml.Text(f.String())
	}
	return e.Encode([]checker.Kind(f), nil)
}

// UnmarshalNode reads "safe", one kind of finding, or a list of them.
func (f *Findings) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
		if len(items) == 0 {
			d.Errorf(n, "", nil, `an empty list: to expect no finding say "safe"`)
			return
		}
	}
	valid := []string{Safe}
	for _, k := range kinds() {
		valid = append(valid, string(k))
	}
	var found Findings
	for _, item := range items {
		var word string
		if !d.Decode(item, &word) {
			return
		}
		switch {
		case !slices.Contains(valid, word):
			d.Errorf(item, word, valid, "no such finding")
			return
		case word == Safe && len(items) > 1:
			d.Errorf(item, word, nil, "is the word for no findings and cannot be one of several")
			return
		case slices.Contains(found, checker.Kind(word)):
			d.Errorf(item, word, nil, "is listed twice")
			return
		case word != Safe:
			found = append(found, checker.Kind(word))
		}
	}
	slices.SortFunc(found, func(a, b checker.Kind) int { return slices.Index(kinds(), a) - slices.Index(kinds(), b) })
	*f = found
}
