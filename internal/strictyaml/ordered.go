package strictyaml

import "go.yaml.in/yaml/v3"

// Ordered is a mapping in the order of the file.
type Ordered[T any] []Entry[T]

// An Entry is one key of an [Ordered] mapping with its value.
type Entry[T any] struct {
	Key   string
	Value T
}

// UnmarshalNode implements [NodeUnmarshaler].
func (o *Ordered[T]) UnmarshalNode(d *Decoder, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		d.want(n, "a mapping")
		return
	}
	*o = make(Ordered[T], 0, len(n.Content)/2)
	for key, value := range pairs(n) {
		e := Entry[T]{Key: key.Value}
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
