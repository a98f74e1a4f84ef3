package sweep

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// on is the value that the settings have on an axis: that with which they are the same, which can be a default, or else what
// they say themselves. It is empty if they say nothing that is a single value.
func (b Base) on(a Axis) string {
	for _, v := range a.Values {
		if changed, err := b.With(Setting{a.Path, v.Word}); err == nil && same(b, changed) {
			return v.Word
		}
	}
	return b.word(a.Path)
}

// same says whether two bases stand for the same settings.
func same(a, b Base) bool {
	x, err := a.Settings()
	if err != nil {
		return false
	}
	y, err := b.Settings()
	if err != nil || x.Pause != y.Pause || x.Work != y.Work {
		return false
	}
	one, err := x.Scenario.Encode()
	if err != nil {
		return false
	}
	other, err := y.Scenario.Encode()
	return err == nil && bytes.Equal(one, other)
}

// word is the value that the settings themselves have for a path; empty if they do not set it, or not to a single value.
func (b Base) word(path string) string {
	if path == nodeCount {
		path = "nodes.names"
	}
	n := b.root
	for step := range strings.SplitSeq(path, ".") {
		if n.Kind != yaml.MappingNode {
			return ""
		}
		i := slices.IndexFunc(n.Content, func(key *yaml.Node) bool { return key.Value == step })
		if i < 0 || i%2 != 0 {
			return ""
		}
		n = n.Content[i+1]
	}
	switch {
	case n.Kind == yaml.SequenceNode && path == "nodes.names":
		return strconv.Itoa(len(n.Content))
	case n.Kind == yaml.ScalarNode:
		return n.Value
	}
	return ""
}
