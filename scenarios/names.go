package scenarios

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"redlocksim/sim/storage"
)

// maxName bounds the name of a process or a resource, in bytes.
const maxName = 200

// known refuses a word that is none of those that there are.
func (c *check) known(n *yaml.Node, what, word string, valid []string) {
	if !slices.Contains(valid, word) {
		c.d.Errorf(n, word, valid, "there is no such %s", what)
	}
}

// names looks at the names of all clients, nodes or resources.
func (c *check) names(n *yaml.Node, names []string, limit int, what string) {
	if len(names) == 0 || len(names) > limit {
		c.d.Errorf(n, "", nil, "%d %ss, must be from 1 to %d", len(names), what, limit)
		return
	}
	for i, name := range names {
		at := n
		if n.Kind == yaml.SequenceNode && i < len(n.Content) {
			at = n.Content[i]
		}
		switch {
		case name == "" || name == storage.Name:
			c.d.Errorf(n, name, nil, "cannot be the name of a %s", what)
		case len(name) > maxName:
			c.d.Errorf(at, "", nil, "the name of a %s has at most %d bytes", what, maxName)
		case strings.ContainsAny(name, "\n\t"):
			c.d.Errorf(at, name, nil, "the name of a %s is one line of printable text", what)
		case slices.Contains(names[:i], name):
			c.d.Errorf(n, name, nil, "there are two %ss of this name", what)
		}
	}
}

// oneLine looks at what is told as one line.
func (c *check) oneLine(key, text string) {
	if strings.ContainsAny(text, "\n\t") {
		c.d.Errorf(child(c.n, key), text, nil, "is one line of printable text")
	}
}
