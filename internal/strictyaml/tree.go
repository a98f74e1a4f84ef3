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

// ValueOf is the node of a value that is written as text, as [A, B] or 5s.
func ValueOf(text string) (*yaml.Node, error) {
	n, wrong := parse("", []byte(text))
	if wrong != nil {
		return nil, wrong
	}
	return n, nil
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

// Ordered is a mapping in the order of the file.
type Ordered[T any] []Entry[T]

// An Entry is one key of an [Ordered] mapping with its value; the position is that of the key.
type Entry[T any] struct {
	Key          string
	Line, Column int
	Value        T
}

// UnmarshalNode implements [NodeUnmarshaler].
func (o *Ordered[T]) UnmarshalNode(d *Decoder, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		d.want(n, "a mapping")
		return
	}
	*o = make(Ordered[T], 0, len(n.Content)/2)
	for key, value := range pairs(n) {
		e := Entry[T]{Key: key.Value, Line: key.Line, Column: key.Column}
		d.Decode(value, &e.Value)
		*o = append(*o, e)
	}
}

// MarshalNode implements [NodeMarshaler].
func (o Ordered[T]) MarshalNode(e *Encoder) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, entry := range o {
		n.Content = append(n.Content, Text(entry.Key), e.Encode(entry.Value, *new(T)))
	}
	return n
}

// A Located value remembers its position in the file, for errors that are found only after decoding; see [Errorf]. It is
// written like a T. A value that was absent has line 0.
type Located[T any] struct {
	Value        T
	Line, Column int
}

// UnmarshalNode implements [NodeUnmarshaler].
func (l *Located[T]) UnmarshalNode(d *Decoder, n *yaml.Node) {
	l.Line, l.Column = n.Line, n.Column
	d.Decode(n, &l.Value)
}
