package strictyaml

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// A Marshaler is the counterpart of an [Unmarshaler]: MarshalScalar gives the word that UnmarshalScalar reads as the same
// value, or an error if there is none. It has a value receiver.
type Marshaler interface {
	MarshalScalar() (string, error)
}

// A NodeMarshaler is the counterpart of a [NodeUnmarshaler]: MarshalNode gives a node that UnmarshalNode reads as the same
// value over what documents have there before. It has a value receiver, encodes its parts with e, and reports what cannot be
// written with [Encoder.Errorf].
type NodeMarshaler interface {
	MarshalNode(e *Encoder) *yaml.Node
}

// An Encoder is what a [NodeMarshaler] encodes and reports with. It is valid during the call of MarshalNode only.
type Encoder struct {
	err error // the first one
}

// Encode writes v, a struct or a pointer to one, as a document that [Decode] reads back as the same value over a copy of base,
// a value of the same type. It leaves out keys whose values are those of base, unless they are required. The error names a
// value that no document can hold. A type that decodes itself must encode itself.
func Encode(v, base any) ([]byte, error) {
	var e Encoder
	n := e.Encode(v, base)
	if e.err != nil {
		return nil, e.err
	}
	return layOut(n)
}

// Encode returns the node of a value, without the keys whose values are those of base. base is of the same type, or nil for a
// node with all keys.
func (e *Encoder) Encode(v, base any) *yaml.Node {
	return e.value(reflect.Indirect(reflect.ValueOf(v)), reflect.Indirect(reflect.ValueOf(base)))
}

// Errorf reports a value that cannot be written.
func (e *Encoder) Errorf(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("strictyaml: "+format, args...)
	}
}

// plainWord is the node of a value that is written without quotes; its key tells the reader its type.
func plainWord(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: text}
}

// value is the node of v, which is no pointer. An invalid base is none.
func (e *Encoder) value(v, base reflect.Value) *yaml.Node {
	word := func(text string, err error) *yaml.Node {
		if err != nil {
			e.Errorf("%w", err)
		}
		return Text(text)
	}
	if words := enumerations[v.Type()]; words != nil {
		return word(words.of(v.Interface()))
	}
	switch m := v.Interface().(type) {
	case NodeMarshaler:
		return m.MarshalNode(e)
	case Marshaler:
		return word(m.MarshalScalar())
	case time.Duration:
		return plainWord(written(m))
	}
	switch reflect.New(v.Type()).Interface().(type) {
	case NodeUnmarshaler, Unmarshaler:
		panicf("%v decodes itself and does not encode itself", v.Type())
	}
	switch v.Kind() {
	case reflect.String:
		return Text(v.String())
	case reflect.Bool:
		return plainWord(strconv.FormatBool(v.Bool()))
	case reflect.Struct:
		return e.structure(v, base)
	case reflect.Slice:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for i := range v.Len() {
			n.Content = append(n.Content, e.value(v.Index(i), reflect.Zero(v.Type().Elem())))
		}
		return n
	default:
		checkInteger(v.Type())
		if v.CanInt() {
			return plainWord(strconv.FormatInt(v.Int(), 10))
		}
		return plainWord(strconv.FormatUint(v.Uint(), 10))
	}
}

func (e *Encoder) structure(v, base reflect.Value) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range Fields(v.Type()) {
		was := reflect.Value{}
		if base.IsValid() {
			was = base.FieldByIndex(f.Index)
		}
		if value := e.field(f, v.FieldByIndex(f.Index), was); value != nil {
			n.Content = append(n.Content, Text(f.Key), value)
		}
	}
	return n
}

// field is the node of a field that was something else before decoding; nil if it is left out.
func (e *Encoder) field(f Field, v, was reflect.Value) *yaml.Node {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		if was.IsValid() && !was.IsNil() || f.required {
			e.Errorf("%s is nil, which can only be written by leaving it out", f.Key)
		}
		return nil
	}
	isDefault := was.IsValid() && !f.required
	if v.Kind() == reflect.Pointer {
		isDefault = isDefault && !was.IsNil()
		if from := was; !was.IsValid() || was.IsNil() {
			was = reflect.Zero(v.Type().Elem())
		} else {
			was = from.Elem()
		}
		v = v.Elem()
	}
	if isDefault && enumerations[v.Type()] != nil && v.Equal(was) {
		return nil // also if it is not set, which no word says
	}
	n := e.value(v, was)
	if isDefault && enumerations[v.Type()] == nil && sameNode(n, e.value(was, was)) {
		return nil
	}
	return n
}

func sameNode(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value && slices.EqualFunc(a.Content, b.Content, sameNode)
}

// The widest line that a value is put on with its key, and the widest of a text.
const (
	widestLine = 100
	widestText = 120
)

// layOut formats a mapping as people do: a short value on the line of its key, the parts of a longer one on a line each, and
// long text folded.
func layOut(n *yaml.Node) ([]byte, error) {
	var all bytes.Buffer
	for key, value := range pairs(n) {
		if text, ok := folded(value); ok {
			fmt.Fprintf(&all, "%s: %s", key.Value, text)
			continue
		}
		inline(value)
		if value.Kind == yaml.SequenceNode && len(value.Content) > 0 && value.Content[0].Kind != yaml.ScalarNode {
			value.Style = 0
		}
		line, err := emit(key, value)
		if err == nil && value.Style != 0 && len(line) > widestLine {
			value.Style = 0
			line, err = emit(key, value)
		}
		if err != nil {
			return nil, err
		}
		all.Write(line)
	}
	return all.Bytes(), nil
}

// inline gives all of a value the style of one line.
func inline(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode {
		n.Style = yaml.FlowStyle
	}
	for _, part := range n.Content {
		inline(part)
	}
}

// emit writes one key and its value.
func emit(key, value *yaml.Node) ([]byte, error) {
	var text bytes.Buffer
	w := yaml.NewEncoder(&text)
	w.SetIndent(2)
	if err := w.Encode(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, value}}); err != nil {
		return nil, fmt.Errorf("strictyaml: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("strictyaml: %w", err)
	}
	return text.Bytes(), nil
}

// folded is a long text as a folded block, which the emitter would put on one line; false for a text that is short, or whose
// spaces folding would change.
func folded(n *yaml.Node) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != strTag || utf8.RuneCountInString(n.Value) <= widestText || !utf8.ValidString(n.Value) {
		return "", false
	}
	text, ended := strings.CutSuffix(n.Value, "\n")
	words := strings.Split(text, " ")
	for _, word := range words {
		if word == "" || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsGraphic(r) }) {
			return "", false
		}
	}
	var block strings.Builder
	block.WriteString(">")
	if !ended {
		block.WriteString("-")
	}
	column := widestText
	for _, word := range words {
		length := utf8.RuneCountInString(word)
		if column += 1 + length; column > widestText {
			block.WriteString("\n  " + word)
			column = 2 + length
			continue
		}
		block.WriteString(" " + word)
	}
	return block.String() + "\n", true
}
