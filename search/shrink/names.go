package shrink

import (
	"cmp"
	"maps"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
)

// strip takes a client, node or replica out of a file, with all items that cannot do without it.
func strip(root *yaml.Node, name string) { strips(root, name, false) }

// strips takes a name out of a part of a file, and says whether that is nothing without it: the name itself, a list that
// becomes empty, which would mean all, and within an item of the timeline whatever is about one of these.
func strips(n *yaml.Node, name string, inItem bool) (needs bool) {
	switch n.Kind {
	case yaml.ScalarNode:
		return n.Value == name
	case yaml.SequenceNode:
		before := len(n.Content)
		n.Content = slices.DeleteFunc(n.Content, func(element *yaml.Node) bool { return strips(element, name, true) })
		return before > 0 && len(n.Content) == 0
	}
	for i := 0; i < len(n.Content); {
		key := n.Content[i].Value
		if gone := strips(n.Content[i+1], name, inItem); key == name || gone && key != "timeline" {
			n.Content = slices.Delete(n.Content, i, i+2)
			needs = inItem
			continue
		}
		i += 2
	}
	return needs
}

// names gives clients and nodes the names that they would have if there had been no others: all of them, or only the clients
// or the nodes, since random choices depend on names.
func names(x *shrinker) {
	for _, kind := range []*regexp.Regexp{nil, clientName, nodeName} {
		to := renamed(x.now)
		maps.DeleteFunc(to, func(name, _ string) bool { return kind != nil && !kind.MatchString(name) })
		if len(to) > 0 {
			x.cut(func(root *yaml.Node) {
				rename(root, to)
				clients := strictyaml.At(root, "clients").Content
				slices.SortFunc(clients, func(a, b *yaml.Node) int { return cmp.Compare(a.Value, b.Value) })
			})
		}
	}
}

// rename calls clients and nodes by other names, all at once.
func rename(n *yaml.Node, to map[string]string) {
	if other, is := to[n.Value]; is && n.Kind == yaml.ScalarNode {
		n.Value = other
	}
	for _, part := range n.Content {
		rename(part, to)
	}
}
