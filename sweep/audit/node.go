package audit

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// parsed is a value of our own as a node.
func parsed(text string) *yaml.Node {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		panic(err) // it is ours
	}
	return document.Content[0]
}

// moved has a node stand where another does, for errors.
func moved(n, where *yaml.Node) *yaml.Node {
	n.Line, n.Column = where.Line, where.Column
	return n
}

// copied is a node whose entries can be changed.
func copied(n *yaml.Node) *yaml.Node {
	x := *n
	x.Content = nil
	for _, c := range n.Content {
		x.Content = append(x.Content, copied(c))
	}
	return &x
}

// at is what stands at a path, as lock.ttl; nil if nothing does.
func at(n *yaml.Node, path string) *yaml.Node {
	key, rest, deeper := strings.Cut(path, ".")
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != key {
			continue
		}
		if deeper {
			return at(n.Content[i+1], rest)
		}
		return n.Content[i+1]
	}
	return nil
}

// put puts a value at a path where nothing stands.
func put(n *yaml.Node, path string, value *yaml.Node) {
	key, rest, deeper := strings.Cut(path, ".")
	slot := at(n, key)
	if slot == nil {
		slot = value
		if deeper {
			slot = &yaml.Node{Kind: yaml.MappingNode, Line: value.Line, Column: value.Column}
		}
		n.Content = append(n.Content, moved(parsed(key), value), slot)
	}
	if deeper {
		put(slot, rest, value)
	}
}
