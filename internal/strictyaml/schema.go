package strictyaml

import (
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// A Describer is a [NodeUnmarshaler] that says what it reads, for [Schemas]. DescribeNode is called on a zero value.
type Describer interface {
	DescribeNode(s *Schemas) *jsonschema.Schema
}

// A Patterned is an [Unmarshaler] that says which regular expression its words match.
type Patterned interface {
	ScalarPattern() string
}

// Schemas makes JSON Schemas, for editors, of the documents that [Decode] reads. A schema accepts everything that Decode
// accepts, and some of what it refuses, such as a name that is used twice. The schemas are of draft 7, which editors support.
type Schemas struct {
	// Comment is the description of a type or, if field is not empty, of a field of it; empty for none.
	Comment func(t reflect.Type, field string) string

	partial bool
	defs    map[string]*definition
}

// definition is a schema that others refer to.
type definition struct {
	of     reflect.Type
	schema *jsonschema.Schema
}

// Document is the schema of files that are decoded into a type, with the definitions that it refers to.
func (s *Schemas) Document(t reflect.Type) *jsonschema.Schema {
	s.defs = map[string]*definition{}
	root := *s.Of(t)
	root.Schema = "http://json-schema.org/draft-07/schema#"
	root.Definitions = map[string]*jsonschema.Schema{}
	for name, def := range s.defs {
		root.Definitions[name] = def.schema
	}
	return &root
}

// Part makes schemas of what [Merge] takes as either part: every key of a mapping can be left out, and a null removes it. What
// is in a list is whole.
func (s *Schemas) Part() *Schemas { return &Schemas{s.Comment, true, s.defs} }

func (s *Schemas) whole() *Schemas { return &Schemas{s.Comment, false, s.defs} }

// Of is the schema of a type. It panics for a type that Decode does not know, or that reads itself and cannot be described.
func (s *Schemas) Of(t reflect.Type) *jsonschema.Schema {
	t = indirect(t)
	if words := WordsOf(t); words != nil {
		return OneOf(words...)
	}
	switch zero := reflect.New(t).Interface().(type) {
	case Describer:
		return zero.DescribeNode(s)
	case Patterned:
		return &jsonschema.Schema{Type: "string", Pattern: zero.ScalarPattern()}
	case NodeUnmarshaler, Unmarshaler:
		panicf("%v does not say what it reads", t)
	case *time.Duration:
		return &jsonschema.Schema{Type: "string", Pattern: durationPattern}
	}
	switch t.Kind() {
	case reflect.String:
		return &jsonschema.Schema{Type: "string"}
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case reflect.Slice:
		return &jsonschema.Schema{Type: "array", Items: s.whole().Of(t.Elem())}
	case reflect.Struct:
		return s.Struct(t)
	}
	checkInteger(t)
	n := &jsonschema.Schema{Type: "integer"}
	if reflect.Zero(t).CanUint() {
		n.Minimum = new(float64)
	}
	return n
}

// durationPattern is what time.ParseDuration takes, but for a number without a unit.
const durationPattern = `^[-+]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`

// OneOf is the schema of some words.
func OneOf(words ...string) *jsonschema.Schema {
	e := &jsonschema.Schema{Type: "string"}
	for _, w := range words {
		e.Enum = append(e.Enum, w)
	}
	return e
}

// Struct refers to the schema of a struct by its tags, also if the type reads itself. The keys of others can stand beside its
// own, and what several of them have is one key.
func (s *Schemas) Struct(t reflect.Type, others ...reflect.Type) *jsonschema.Schema {
	name := t.Name()
	if s.partial {
		name = "Part" + name
	}
	def, known := s.defs[name]
	switch {
	case !known:
		def = &definition{of: t, schema: &jsonschema.Schema{}}
		s.defs[name] = def // before its fields are looked at, which can refer to it
		*def.schema = *s.structure(t, others)
	case def.of != t:
		panicf("%v and %v are both named %s in the schema", def.of, t, name)
	}
	return &jsonschema.Schema{Ref: "#/definitions/" + name}
}

// Definition is the schema that Struct refers to, to be made narrower.
func (s *Schemas) Definition(ref *jsonschema.Schema) *jsonschema.Schema {
	return s.defs[strings.TrimPrefix(ref.Ref, "#/definitions/")].schema
}

func (s *Schemas) structure(t reflect.Type, others []reflect.Type) *jsonschema.Schema {
	o := &jsonschema.Schema{Type: "object", Description: s.Comment(t, ""), Properties: map[string]*jsonschema.Schema{},
		AdditionalProperties: Nothing()}
	for _, part := range append([]reflect.Type{t}, others...) {
		for _, f := range Fields(part) {
			if o.Properties[f.Key] != nil {
				continue
			}
			p := s.value(f.within.narrow(s.Of(f.Type)))
			p.Description = s.Comment(f.Owner, f.Name)
			o.Properties[f.Key] = p
			o.PropertyOrder = append(o.PropertyOrder, f.Key)
			if f.required && !s.partial {
				o.Required = append(o.Required, f.Key)
			}
		}
	}
	return o
}

// narrow has the schema of a number keep to the bounds.
func (b *bounds) narrow(s *jsonschema.Schema) *jsonschema.Schema {
	if b == nil || s.Type != "integer" {
		return s
	}
	if least := float64(b.least); b.least > math.MinInt64 {
		s.Minimum = &least
	}
	if most := float64(b.most); b.most < math.MaxInt64 {
		s.Maximum = &most
	}
	return s
}

// value is the schema of the value of a key.
func (s *Schemas) value(of *jsonschema.Schema) *jsonschema.Schema {
	if !s.partial {
		return of
	}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{of, {Type: "null"}}}
}

// Nothing is the schema that nothing matches: false.
func Nothing() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

// DescribeNode implements [Describer].
func (o *Ordered[T]) DescribeNode(s *Schemas) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", AdditionalProperties: s.value(s.Of(reflect.TypeFor[T]()))}
}
