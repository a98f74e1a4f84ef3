package shrink

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// treeOf is the tree of a scenario's file.
func treeOf(file []byte) *yaml.Node {
	var document yaml.Node
	if err := yaml.Unmarshal(file, &document); err != nil {
		panic(err) // it is a scenario
	}
	return document.Content[0]
}

// place is where a node of a tree is: the key or the index at each level.
type place []any

func (p place) child(step any) place { return append(slices.Clip(p), step) }

// key is the last key that leads to a place.
func (p place) key() string {
	for _, step := range slices.Backward(p) {
		if key, is := step.(string); is {
			return key
		}
	}
	return ""
}

// is says whether a place is one of some, by the keys that lead to it.
func (p place) is(places ...string) bool {
	var keys []string
	for _, step := range p {
		if key, is := step.(string); is {
			keys = append(keys, key)
		}
	}
	return slices.Contains(places, strings.Join(keys, "."))
}

// isOfFault says whether a place is the body of a fault, or in it.
func (p place) isOfFault() bool { return len(p) > 3 && p[0] == "timeline" && p[2] == "fault" }

// in is the node at a place; nil if there is none.
func (p place) in(n *yaml.Node) *yaml.Node {
	for _, step := range p {
		i, isIndex := step.(int)
		if !isIndex {
			if i = key(n, step.(string)) + 1; i == 0 {
				return nil
			}
		}
		if i >= len(n.Content) {
			return nil
		}
		n = n.Content[i]
	}
	return n
}

// key is where a mapping has a key; −1 if it has none, or there is no node.
func key(n *yaml.Node, name string) int {
	for i := 0; n != nil && n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return i
		}
	}
	return -1
}

// remove takes a key out of a mapping.
func remove(n *yaml.Node, name string) {
	if i := key(n, name); i >= 0 {
		n.Content = slices.Delete(n.Content, i, i+2)
	}
}

// walk calls f for what is at a place and below it, from the outside in.
func walk(n *yaml.Node, at place, f func(at place, n *yaml.Node)) {
	f(at, n)
	for i, part := range n.Content {
		switch {
		case n.Kind == yaml.SequenceNode:
			walk(part, at.child(i), f)
		case i%2 == 1:
			walk(part, at.child(n.Content[i-1].Value), f)
		}
	}
}
