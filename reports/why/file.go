package why

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"redlocksim/scenarios"
)

// file is a scenario as a file has it.
type file struct {
	name string
	text []byte
	keys []Key
}

// Key is a value in a scenario file that a change sets, by its path: lock.quorum, timeline[2].fault.kill.restart-after.
// From and To are as in the file; empty where the key is not there, and has its default.
type Key struct{ Path, From, To string }

func (k Key) String() string {
	switch {
	case k.To == "":
		return fmt.Sprintf("%s: left out (was %s)", k.Path, k.From)
	case k.From == "":
		return fmt.Sprintf("%s: %s", k.Path, k.To)
	}
	return fmt.Sprintf("%s: %s (was %s)", k.Path, k.To, k.From)
}

var errNoDocument = errors.New("why: the scenario cannot be written as a file")

func document(s *scenarios.Scenario) (*file, error) {
	text, err := s.Encode()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoDocument, err)
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoDocument, err)
	}
	f := &file{name: s.Name, text: text}
	f.flatten("", root.Content[0])
	return f, nil
}

// flatten lists the values of a file in its order.
func (f *file) flatten(path string, n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			at := n.Content[i].Value
			if path != "" {
				at = path + "." + at
			}
			f.flatten(at, n.Content[i+1])
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			f.flatten(fmt.Sprintf("%s[%d]", path, i), item)
		}
	default:
		f.keys = append(f.keys, Key{Path: path, To: n.Value})
	}
}

// copy reads the file anew, so that nothing is shared.
func (f *file) copy() (*scenarios.Scenario, error) {
	found, err := scenarios.Parse("why.yaml", f.text)
	if err != nil {
		return nil, err
	}
	found[0].Name = f.name
	return found[0], nil
}

// with is the scenario with a change, and what is different in its file; nil if there is no difference. The error says why
// there can be no such scenario.
func (f *file) with(c Change) (*scenarios.Scenario, []Key, error) {
	s, err := f.copy()
	if err != nil || !c.apply(s) {
		return nil, nil, err
	}
	changed, err := document(s)
	if err != nil {
		return nil, nil, err
	}
	keys := difference(f.keys, changed.keys)
	if s, err = changed.copy(); err != nil || len(keys) == 0 {
		return nil, nil, err
	}
	return s, keys, nil
}

func difference(before, after []Key) []Key {
	find := func(keys []Key, path string) int {
		return slices.IndexFunc(keys, func(k Key) bool { return k.Path == path })
	}
	var keys []Key
	for _, k := range after {
		i := find(before, k.Path)
		switch {
		case i < 0:
			keys = append(keys, k)
		case before[i].To != k.To:
			keys = append(keys, Key{k.Path, before[i].To, k.To})
		}
	}
	for _, k := range before {
		if find(after, k.Path) < 0 {
			keys = append(keys, Key{Path: k.Path, From: k.To})
		}
	}
	return keys
}
