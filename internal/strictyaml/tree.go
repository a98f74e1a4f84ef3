package strictyaml

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Tags that the parser gives to words without one.
const (
	nullTag  = "!!null"
	boolTag  = "!!bool"
	strTag   = "!!str"
	intTag   = "!!int"
	floatTag = "!!float"
	mergeTag = "!!merge"
)

// pairs yields the keys and values of a mapping; none of a node that is none.
func pairs(n *yaml.Node) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

func isNull(n *yaml.Node) bool   { return n.Kind == yaml.ScalarNode && n.Tag == nullTag }
func isNumber(n *yaml.Node) bool { return n.Tag == intTag || n.Tag == floatTag }

// describe names what a node is, in the words of someone who writes the file.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n):
		return "null"
	case n.Tag == boolTag:
		return "true or false"
	case isNumber(n):
		return "a number"
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		return "text in quotes"
	}
	return "text"
}

// content is the root of a document, or the node itself.
func content(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		return n.Content[0]
	}
	return n
}

// Text is the node of a text. The emitter would write one of several lines as a block, in which the white space that a line
// begins with is indentation and text at once.
func Text(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: strTag, Value: text}
	if all := "\n" + text; strings.Contains(text, "\n") && (strings.Contains(all, "\n ") || strings.Contains(all, "\n\t")) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// At is what a mapping has at a path of keys, as lock.ttl; nil if it has nothing there.
func At(n *yaml.Node, path string) *yaml.Node {
	key, rest, more := strings.Cut(path, ".")
	for k, value := range pairs(n) {
		if k.Value == key {
			if more {
				return At(value, rest)
			}
			return value
		}
	}
	return nil
}

// Under is a mapping that has nothing but a value at a path of keys, for [Merge]. Errors about its keys are located at the
// value.
func Under(path string, value *yaml.Node) *yaml.Node {
	for _, name := range slices.Backward(strings.Split(path, ".")) {
		key := Text(name)
		key.Line, key.Column = value.Line, value.Column
		value = &yaml.Node{Kind: yaml.MappingNode, Line: value.Line, Column: value.Column, Content: []*yaml.Node{key, value}}
	}
	return value
}

// Without is a mapping without a key, and what it had there; itself, and nil, if it had nothing.
func Without(n *yaml.Node, key string) (rest, value *yaml.Node) {
	if value = At(n, key); value == nil {
		return n, nil
	}
	return Merge(n, Under(key, &yaml.Node{Kind: yaml.ScalarNode, Tag: nullTag})), value
}

// Merge lays patch over base, as for a named case of an experiment that says only what is different in it. Where both are
// mappings they are merged key by key; anything else in patch replaces what base has, lists too. A null removes the key from
// what base has; for a key that base does not have it stays, and is an error when the result is decoded.
//
// Every node keeps the line and column that it came from. Neither base nor patch is modified; the result shares nodes with
// both, so it must not be modified either.
func Merge(base, patch *yaml.Node) *yaml.Node {
	base, patch = content(base), content(patch)
	switch {
	case patch == nil:
		return base
	case base == nil || base.Kind != yaml.MappingNode || patch.Kind != yaml.MappingNode:
		return patch
	}
	merged := *base
	merged.Content = slices.Clone(base.Content)
	given := map[string]bool{} // keys of the patch: a second one of a name stays a duplicate
	for key, value := range pairs(patch) {
		i := 0
		for i < len(merged.Content) && merged.Content[i].Value != key.Value {
			i += 2
		}
		switch {
		case i == len(merged.Content) || given[key.Value]:
			merged.Content = append(merged.Content, key, value)
		case isNull(value):
			merged.Content = slices.Delete(merged.Content, i, i+2)
		case value.Kind == yaml.MappingNode && merged.Content[i+1].Kind == yaml.MappingNode:
			merged.Content[i+1] = Merge(merged.Content[i+1], value)
		default:
			merged.Content[i], merged.Content[i+1] = key, value
		}
		given[key.Value] = true
	}
	return &merged
}
