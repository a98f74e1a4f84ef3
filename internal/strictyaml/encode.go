package strictyaml

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

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
// value that no document can hold. Encode panics if Decode does not know the type of v, or if a type within it decodes itself
// but does not encode itself.
func Encode(v, base any) ([]byte, error) {
	value, from := reflect.Indirect(reflect.ValueOf(v)), reflect.Indirect(reflect.ValueOf(base))
	if value.Kind() != reflect.Struct || !from.IsValid() || value.Type() != from.Type() {
		panicf("encoding a %T over a %T", v, base)
	}
	var e Encoder
	n := e.value(value, from)
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

// Text is the node of a text.
func Text(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: strTag, Value: text}
	if startsBlank(text) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// startsBlank says whether a text of several lines has one that begins with white space. The emitter would write it as a block,
// in which white space is indentation and text at once.
func startsBlank(text string) bool {
	if !strings.Contains(text, "\n") {
		return false
	}
	for line := range strings.Lines(text) {
		if line[0] == ' ' || line[0] == '\t' {
			return true
		}
	}
	return false
}

// plainWord is the node of a value that is written without quotes; its key tells the reader its type.
func plainWord(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: text}
}

// value is the node of v, which is no pointer. An invalid base is none.
func (e *Encoder) value(v, base reflect.Value) *yaml.Node {
	if words := enumerations[v.Type()]; words != nil {
		text, err := words.of(v.Interface())
		if err != nil {
			e.Errorf("%w", err)
		}
		return Text(text)
	}
	switch m := v.Interface().(type) {
	case NodeMarshaler:
		return m.MarshalNode(e)
	case Marshaler:
		text, err := m.MarshalScalar()
		if err != nil {
			e.Errorf("%w", err)
		}
		return Text(text)
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
			n.Content = append(n.Content, e.item(v.Index(i)))
		}
		return n
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, key := range keys {
			n.Content = append(n.Content, e.item(key), e.item(v.MapIndex(key)))
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

// item is the node of an element of a list or map, which is decoded over a zero value.
func (e *Encoder) item(v reflect.Value) *yaml.Node {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			e.Errorf("a list or map of %v has a nil", v.Type())
			return Text("")
		}
		v = v.Elem()
	}
	return e.value(v, reflect.Zero(v.Type()))
}

func (e *Encoder) structure(v, base reflect.Value) *yaml.Node {
	fields := fieldsOf(v.Type())
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range fields.names {
		f := fields.named[name]
		was := reflect.Value{}
		if base.IsValid() {
			was = base.FieldByIndex(f.Index)
		}
		if value := e.field(name, v.FieldByIndex(f.Index), was, f.required); value != nil {
			n.Content = append(n.Content, Text(name), value)
		}
	}
	return n
}

// field is the node of a field that was something else before decoding; nil if it is left out.
func (e *Encoder) field(name string, v, was reflect.Value, required bool) *yaml.Node {
	if v.Kind() == reflect.Pointer {
		set := was.IsValid() && !was.IsNil()
		if v.IsNil() {
			if set || required {
				e.Errorf("%s is nil, which can only be written by leaving it out", name)
			}
			return nil
		}
		from := reflect.Zero(v.Type().Elem())
		if set {
			from = was.Elem()
		}
		n := e.value(v.Elem(), from)
		if set && !required && sameNode(n, e.value(from, from)) {
			return nil
		}
		return n
	}
	if enumerations[v.Type()] != nil && was.IsValid() && !required {
		if v.Equal(was) {
			return nil // also if it is not set, which no word says
		}
		return e.value(v, was)
	}
	n := e.value(v, was)
	if was.IsValid() && !required && sameNode(n, e.value(was, was)) {
		return nil
	}
	return n
}

func sameNode(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value && slices.EqualFunc(a.Content, b.Content, sameNode)
}
