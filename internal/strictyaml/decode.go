package strictyaml

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// An Unmarshaler is a type that is one word of the file and no enumeration (see [Enum]): a ratio, an address. UnmarshalScalar
// has a pointer receiver and is given the word without its quotes. Its error is located in the file; if it is an [*Invalid],
// the nearest valid word is suggested too.
type Unmarshaler interface {
	UnmarshalScalar(text string) error
}

// A NodeUnmarshaler is a type that decodes itself: a union, or a step that is either a word or a mapping. UnmarshalNode has a
// pointer receiver, looks at n, decodes the parts of it with d, and reports what is wrong with [Decoder.Errorf]. The node is
// never an alias and has no tag, but it can be null. To decode all of n as the struct that the type is, it must drop the
// method, or it would call itself: type plain T; d.Decode(n, (*plain)(t)).
type NodeUnmarshaler interface {
	UnmarshalNode(d *Decoder, n *yaml.Node)
}

// A Decoder is what a [NodeUnmarshaler] decodes and reports with. It is valid during the call of UnmarshalNode only.
type Decoder struct {
	file    string
	links   map[*yaml.Node]link
	current *yaml.Node // whose UnmarshalNode is running
	errs    Errors
	seen    map[string]bool
	reports int // of errors, also of those seen before or beyond the bound
}

// Decode decodes data, the content of the named file, into the variable that into points to. Every error is of type [Errors];
// if there is one, the variable holds those parts that were right. It panics if into is not a non-nil pointer to a type that
// the package comment lists.
func Decode(file string, data []byte, into any) error {
	root, err := parse(file, data)
	if err != nil {
		return Errors{err}.Err()
	}
	return DecodeNode(file, root, into)
}

// DecodeValue is [Decode] for a file that has one key and the given text as its value. Whatever the text is, it is that value:
// it cannot add a key. Its errors name what the text came from, as --ttl, and neither a line nor the key.
func DecodeValue(from, key, text string, into any) error {
	value, wrong := parse(from, []byte(text))
	if wrong != nil {
		return Errors{wrong.without(key)}.Err()
	}
	err := DecodeNode(from, &yaml.Node{Kind: yaml.MappingNode, Line: 1, Column: 1, Content: []*yaml.Node{
		{Kind: yaml.ScalarNode, Tag: strTag, Value: key, Line: 1, Column: 1}, value,
	}}, into)
	var all Errors
	if errors.As(err, &all) {
		for _, e := range all {
			e.without(key)
		}
	}
	return err
}

// DecodeNode is [Decode] for a document, or a part of one, parsed before. The paths in its errors start at n.
func DecodeNode(file string, n *yaml.Node, into any) error {
	if n != nil && n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	if n == nil || n.Kind == 0 || n.Kind == yaml.DocumentNode {
		return Errors{Errorf(file, 1, 1, "", nil, "the document is empty")}.Err()
	}
	d := &Decoder{
		file:  file,
		links: make(map[*yaml.Node]link),
		seen:  make(map[string]bool),
	}
	d.Decode(n, into)
	return d.errs.Err()
}

// Decode decodes a node into the variable that into points to, and reports whether it did so without an error. The node may be
// a part of the document or one that was made from such parts by [Merge].
func (d *Decoder) Decode(n *yaml.Node, into any) bool {
	before := d.reports
	if v := target(into); d.vet(n, link{parent: d.current, depth: d.links[d.current].depth + 1}) {
		d.value(n, v)
	}
	return d.reports == before
}

func (d *Decoder) value(n *yaml.Node, v reflect.Value) {
	if d.refused(n) {
		return
	}
	if words := enumerations[v.Type()]; words != nil {
		d.scalar(n, func(text string) error {
			value, err := words.parse(text)
			if err == nil {
				v.Set(reflect.ValueOf(value))
			}
			return err
		})
		return
	}
	switch u := v.Addr().Interface().(type) {
	case NodeUnmarshaler:
		outer := d.current
		d.current = n
		u.UnmarshalNode(d, n)
		d.current = outer
		return
	case Unmarshaler:
		d.scalar(n, u.UnmarshalScalar)
		return
	case *time.Duration:
		d.duration(n, u)
		return
	}
	switch v.Kind() {
	case reflect.String:
		d.text(n, v)
	case reflect.Bool:
		d.bool(n, v)
	case reflect.Struct:
		d.structure(n, v)
	case reflect.Slice:
		d.list(n, v)
	case reflect.Map:
		d.mapping(n, v)
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		d.value(n, v.Elem())
	default:
		d.integer(n, v)
	}
}

func (d *Decoder) scalar(n *yaml.Node, read func(text string) error) {
	if n.Kind != yaml.ScalarNode || isNull(n) {
		d.want(n, "a single value")
		return
	}
	err := read(n.Value)
	if err == nil {
		return
	}
	word, msg := n.Value, err.Error()
	var valid []string
	var invalid *Invalid
	if errors.As(err, &invalid) {
		msg, valid = invalid.Msg, invalid.Valid
		if invalid.Word != "" {
			word = invalid.Word
		}
	}
	if d.reports++; len(d.errs) < maxCollected {
		e := Errorf(d.file, n.Line, n.Column, word, valid, "%s", msg)
		e.cause = err
		d.add(n, e)
	}
}

func (d *Decoder) structure(n *yaml.Node, v reflect.Value) {
	known := fieldsOf(v.Type())
	d.fields(n, func(key *yaml.Node) { d.Errorf(key, key.Value, known.names, "unknown key") }, v)
}

// Fields decodes a mapping whose keys are the fields of several structs, as if these were one, and reports whether it did so
// without an error. The structs are given by pointers, also those that read themselves. unknown is told of the keys that are
// none of theirs, and reports what is wrong with them.
func (d *Decoder) Fields(n *yaml.Node, unknown func(key *yaml.Node), into ...any) bool {
	before := d.reports
	parts := make([]reflect.Value, len(into))
	for i, part := range into {
		parts[i] = reflect.ValueOf(part).Elem()
	}
	d.fields(n, unknown, parts...)
	return d.reports == before
}

func (d *Decoder) fields(n *yaml.Node, unknown func(key *yaml.Node), parts ...reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.want(n, "a mapping")
		return
	}
	var names []string
	slots := make(map[string]reflect.Value)
	for _, part := range parts {
		f := fieldsOf(part.Type())
		names = append(names, f.names...)
		for _, name := range f.names {
			slots[name] = part.FieldByIndex(f.named[name].Index)
		}
	}
	// One slip should be one error: a required key that is there but misspelt is not reported as missing too.
	present := make(map[string]bool)
	for key, value := range d.entries(n) {
		if slot, ok := slots[key.Value]; ok {
			present[key.Value] = true
			d.value(value, slot)
			continue
		}
		unknown(key)
		if near, ok := Nearest(key.Value, names); ok {
			present[near] = true
		}
	}
	for _, part := range parts {
		f := fieldsOf(part.Type())
		for _, name := range f.names {
			if f.named[name].required && !present[name] {
				d.Errorf(n, name, nil, "missing key")
			}
		}
	}
}

func (d *Decoder) list(n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		d.want(n, "a list")
		return
	}
	items := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		d.value(item, items.Index(i))
	}
	v.Set(items)
}

// mapping decodes into a Go map, whose keys a program must sort to go through them in a fixed order; [Ordered] keeps the order
// of the file.
func (d *Decoder) mapping(n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.want(n, "a mapping")
		return
	}
	m := reflect.MakeMap(v.Type())
	for key, value := range d.entries(n) {
		k := reflect.New(v.Type().Key()).Elem()
		element := reflect.New(v.Type().Elem()).Elem()
		d.value(key, k)
		d.value(value, element)
		m.SetMapIndex(k, element)
	}
	v.Set(m)
}

// OneOf is for a union written as a mapping with exactly one of several keys, as hold: 5s. It returns the key and its value. If
// n is anything else it reports that and returns false.
func (d *Decoder) OneOf(n *yaml.Node, keys ...string) (key string, value *yaml.Node, ok bool) {
	if n.Kind != yaml.MappingNode {
		d.want(n, "a mapping with one key of "+strings.Join(keys, ", "))
		return "", nil, false
	}
	before := d.reports
	for k, v := range d.entries(n) {
		switch {
		case !slices.Contains(keys, k.Value):
			d.Errorf(k, k.Value, keys, "unknown key")
		case ok:
			d.Errorf(k, k.Value, nil, "a second key, where %q is given already:", key)
		default:
			key, value, ok = k.Value, v, true
		}
	}
	if !ok && d.reports == before {
		d.Errorf(n, "", nil, "want one key of %s", strings.Join(keys, ", "))
	}
	return key, value, d.reports == before
}
