package strictyaml

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"
)

// At is what a mapping has at a path of keys, as lock.ttl; nil if it has nothing there.
func At(n *yaml.Node, path string) *yaml.Node {
	for key := range strings.SplitSeq(path, ".") {
		found := (*yaml.Node)(nil)
		if n.Kind == yaml.MappingNode {
			for k, value := range pairs(n) {
				if k.Value == key {
					found = value
					break
				}
			}
		}
		if found == nil {
			return nil
		}
		n = found
	}
	return n
}

// ValueOf is the node of a value that is written as text, as [A, B] or 5s.
func ValueOf(text string) (*yaml.Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return nil, err
	}
	if len(document.Content) == 0 {
		return nil, errors.New("no value")
	}
	return document.Content[0], nil
}

// Under is a mapping that has nothing but a value at a path of keys, for [Merge]. Errors about its keys are located at the
// value.
func Under(path string, value *yaml.Node) *yaml.Node {
	keys := strings.Split(path, ".")
	for i := len(keys) - 1; i >= 0; i-- {
		key := Text(keys[i])
		key.Line, key.Column = value.Line, value.Column
		value = &yaml.Node{Kind: yaml.MappingNode, Line: value.Line, Column: value.Column, Content: []*yaml.Node{key, value}}
	}
	return value
}
