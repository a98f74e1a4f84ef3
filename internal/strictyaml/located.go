package strictyaml

import "go.yaml.in/yaml/v3"

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

// MarshalNode implements [NodeMarshaler]. The value is written in full, since it is decoded over whatever is there.
func (l Located[T]) MarshalNode(e *Encoder) *yaml.Node { return e.Encode(l.Value, nil) }
