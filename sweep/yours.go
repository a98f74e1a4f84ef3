package sweep

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// word is the value that the settings have for the path of an axis; empty if they do not set it, or not to a single value.
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
