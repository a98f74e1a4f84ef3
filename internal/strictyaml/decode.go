package strictyaml

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// An Unmarshaler is a type that is one word of the file and no enumeration: a ratio, an address. UnmarshalScalar has a pointer
// receiver and is given the word without its quotes. Its error is located in the file; if it is an [*Invalid], the nearest
// valid word is suggested too.
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
	places  map[*yaml.Node]place
	current *yaml.Node // whose UnmarshalNode is running
	errs    Errors
	reports int // of errors, also of those seen before or beyond the bound
}

// Decode decodes data, the content of the named file, into the variable that into points to. Every error is of type [Errors];
// if there is one, the variable holds those parts that were right.
func Decode(file string, data []byte, into any) error {
	root, wrong := parse(file, data)
	if wrong != nil {
		return Errors{wrong}
	}
	return DecodeNode(file, root, into)
}

// DecodeNode is [Decode] for a document, or a part of one, parsed before. The paths in its errors start at n.
func DecodeNode(file string, n *yaml.Node, into any) error {
	n = content(n)
	if n == nil || n.Kind == 0 || n.Kind == yaml.DocumentNode {
		return Errors{Errorf(file, 1, 1, "", nil, "the document is empty")}
	}
	d := &Decoder{file: file, places: map[*yaml.Node]place{}}
	d.Decode(n, into)
	return d.errs.Err()
}

// Decode decodes a node into the variable that into points to, and reports whether it did so without an error. The node may be
// a part of the document or one that was made from such parts by [Merge].
func (d *Decoder) Decode(n *yaml.Node, into any) bool {
	before := d.reports
	if d.sound(n, place{in: d.current, depth: d.places[d.current].depth + 1}) {
		d.value(n, reflect.ValueOf(into).Elem())
	}
	return d.reports == before
}

func (d *Decoder) value(n *yaml.Node, v reflect.Value) {
	if words := enumerations[v.Type()]; words != nil {
		d.word(n, func(text string) error { return words.parse(text, v) })
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
		d.word(n, u.UnmarshalScalar)
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
		d.fields(n, nil, v)
	case reflect.Slice:
		d.list(n, v)
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		d.value(n, v.Elem())
	default:
		d.integer(n, v)
	}
}

// word has a single value read.
func (d *Decoder) word(n *yaml.Node, read func(text string) error) {
	if n.Kind != yaml.ScalarNode || isNull(n) {
		d.want(n, "a single value")
		return
	}
	err := read(n.Value)
	if err == nil {
		return
	}
	e := Errorf(d.file, n.Line, n.Column, n.Value, nil, "%v", err)
	if invalid, is := errors.AsType[*Invalid](err); is {
		e = Errorf(d.file, n.Line, n.Column, invalid.Word, invalid.Valid, "%s", invalid.Msg)
	}
	e.cause = err
	d.add(n, e)
}

// Fields decodes a mapping whose keys are the fields of several structs, as if these were one, and reports whether it did so
// without an error. The structs are given by pointers, also those that read themselves. unknown is told of the keys that are
// none of theirs, and reports what is wrong with them; if it is nil, that there are no such keys.
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
	var all []Field
	var slots []reflect.Value
	var names []string
	for _, part := range parts {
		for _, f := range Fields(part.Type()) {
			all, slots, names = append(all, f), append(slots, part.FieldByIndex(f.Index)), append(names, f.Key)
		}
	}
	if unknown == nil {
		unknown = func(key *yaml.Node) { d.Errorf(key, key.Value, names, "unknown key") }
	}
	// One slip should be one error: a required key that is there but misspelt is not reported as missing too.
	present := map[string]bool{}
	for key, value := range pairs(n) {
		i := slices.Index(names, key.Value)
		if i < 0 {
			unknown(key)
			present[Nearest(key.Value, names)] = true
			continue
		}
		present[key.Value] = true
		before := d.reports
		d.value(value, slots[i])
		if wrong := all[i].misses(slots[i]); wrong != "" && d.reports == before {
			d.Errorf(value, value.Value, nil, "%s", wrong)
		}
	}
	for _, f := range all {
		if f.required && !present[f.Key] {
			d.Errorf(n, f.Key, nil, "missing key")
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

// OneOf is for a union written as a mapping with exactly one of several keys, as hold: 5s. It returns the key and its value. If
// n is anything else it reports that and returns false.
func (d *Decoder) OneOf(n *yaml.Node, keys ...string) (key string, value *yaml.Node, ok bool) {
	if n.Kind != yaml.MappingNode {
		d.want(n, "a mapping with one key of "+strings.Join(keys, ", "))
		return "", nil, false
	}
	before := d.reports
	for k, v := range pairs(n) {
		switch {
		case !slices.Contains(keys, k.Value):
			d.Errorf(k, k.Value, keys, "unknown key")
		case ok:
			d.Errorf(k, k.Value, nil, "a second key, where %q is given already:", key)
		default:
			key, value, ok = k.Value, v, true
		}
	}
	if len(n.Content) == 0 {
		d.Errorf(n, "", nil, "want one key of %s", strings.Join(keys, ", "))
	}
	return key, value, d.reports == before
}
