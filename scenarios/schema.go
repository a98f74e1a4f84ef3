package scenarios

import (
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios/protocols"
)

// Schema is a JSON Schema of scenario files, for editors: of the types that files are decoded into, with what each of
// those that read themselves says of itself. comment describes a type, or a field of it.
func Schema(comment func(t reflect.Type, field string) string) *jsonschema.Schema {
	schema := (&strictyaml.Schemas{Comment: comment}).Document(reflect.TypeFor[document]())
	schema.Title = "A scenario of redlocksim"
	return schema
}

// DescribeNode is what UnmarshalNode reads: one scenario or, with cases, parts of some.
func (*document) DescribeNode(s *strictyaml.Schemas) *jsonschema.Schema {
	scenario := reflect.TypeFor[Scenario]()
	part := s.Part().Of(scenario)
	most, least := maxCases, 1
	// The base has one key more than a case.
	base := *s.Definition(part)
	base.Properties = map[string]*jsonschema.Schema{"cases": {
		Type: "object", MinProperties: &least, MaxProperties: &most,
		Description: "What differs in each case, by the case's name. Mappings are merged key by key, every other value replaces the one " +
			"above, and null removes a key. Default: not set, the file is one scenario. Example: {healthy: {}, down: {duration: 2m}}",
		PatternProperties:    map[string]*jsonschema.Schema{caseName.String(): part},
		AdditionalProperties: strictyaml.Nothing(),
	}}
	for name, p := range s.Definition(part).Properties {
		base.Properties[name] = p
	}
	base.PropertyOrder = append(slices.Clone(base.PropertyOrder), "cases")
	return &jsonschema.Schema{
		If:   &jsonschema.Schema{Type: "object", Required: []string{"cases"}},
		Then: &base,
		Else: s.Of(scenario),
	}
}

// DescribeNode is what UnmarshalNode reads.
func (Findings) DescribeNode(*strictyaml.Schemas) *jsonschema.Schema {
	var words []string
	for _, k := range kinds() {
		words = append(words, string(k))
	}
	word := strictyaml.OneOf(append(words, Safe)...)
	least := 1
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{word, {Type: "array", Items: word, MinItems: &least, UniqueItems: true}}}
}

// DescribeNode is what UnmarshalNode reads.
func (Unavailable) DescribeNode(s *strictyaml.Schemas) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{strictyaml.OneOf(unbounded), s.Of(reflect.TypeFor[Bounds]())}}
}

// DescribeNode is what UnmarshalNode reads.
func (Latency) DescribeNode(s *strictyaml.Schemas) *jsonschema.Schema {
	q := reflect.TypeFor[quantiles]()
	always, _ := q.FieldByName("Min")
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s.Of(always.Type), s.Of(q)}}
}

// DescribeNode is what UnmarshalNode reads.
func (Step) DescribeNode(s *strictyaml.Schemas) *jsonschema.Schema {
	length, _ := reflect.TypeFor[Step]().FieldByName("For")
	several, single, both := s.Of(reflect.TypeFor[Several]()), aName(), s.Of(reflect.TypeFor[StepOn]())
	var alone []*jsonschema.Schema
	one := oneKey()
	for _, k := range stepKinds {
		if !k.needsLength() {
			alone = append(alone, &jsonschema.Schema{Const: jsonschema.Ptr[any](string(k.kind)), Description: k.text})
		}
		var forms []*jsonschema.Schema
		if k.length {
			forms = append(forms, s.Of(length.Type))
		}
		on := several
		if k.is&effect != 0 {
			on = single
		}
		if k.resource && !k.needsLength() {
			forms = append(forms, on)
		}
		keys := k.keys()
		if keys == nil {
			continue
		}
		// What is said of a mapping does not concern the other forms.
		least := 1
		p := &jsonschema.Schema{AnyOf: append(forms, both), Description: k.text, MinProperties: &least, PropertyNames: strictyaml.OneOf(keys...)}
		if k.needsLength() {
			p.Required = []string{"for"}
		}
		if k.resource && on == single {
			p.Properties = map[string]*jsonschema.Schema{"resource": single}
		}
		one.Properties[string(k.kind)] = p
		one.PropertyOrder = append(one.PropertyOrder, string(k.kind))
	}
	return &jsonschema.Schema{AnyOf: append(alone, one)}
}

// aName is the name of a resource.
func aName() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: resourceName.String()}
}

// DescribeNode is what UnmarshalNode reads.
func (Several) DescribeNode(*strictyaml.Schemas) *jsonschema.Schema {
	name, least := aName(), 1
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{name, {Type: "array", Items: name, MinItems: &least, UniqueItems: true}}}
}

// DescribeNode is what UnmarshalNode reads.
func (Item) DescribeNode(s *strictyaml.Schemas) *jsonschema.Schema {
	ref := s.Of(reflect.TypeFor[written]())
	item := s.Definition(ref)
	item.AllOf = []*jsonschema.Schema{
		{OneOf: []*jsonschema.Schema{with("at"), with("after"), with("every")}},
		{OneOf: []*jsonschema.Schema{with("fault"), with("client", "do")}},
	}
	events := append(faults.EventNames(), faults.CommandMoments()...)
	for _, p := range protocols.All() {
		for _, step := range p.Steps {
			if !slices.Contains(events, step) {
				events = append(events, step)
			}
		}
	}
	event := s.Definition(s.Of(reflect.TypeFor[faults.Moment]())).Properties["event"]
	event.Enum = strictyaml.OneOf(events...).Enum
	return ref
}

// DescribeNode is what UnmarshalNode reads.
func (fault) DescribeNode(s *strictyaml.Schemas) *jsonschema.Schema {
	one := oneKey()
	for _, k := range faults.Vocabulary() {
		t := reflect.TypeOf(k.New()).Elem()
		body := s.Of(t)
		body.Description = s.Comment(t, "")
		one.Properties[k.Name] = body
		one.PropertyOrder = append(one.PropertyOrder, k.Name)
	}
	return one
}

// oneKey is a mapping with one key of those that are still to be given.
func oneKey() *jsonschema.Schema {
	one := 1
	return &jsonschema.Schema{Type: "object", MinProperties: &one, MaxProperties: &one,
		Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: strictyaml.Nothing()}
}

// with is a mapping that has the keys.
func with(keys ...string) *jsonschema.Schema { return &jsonschema.Schema{Required: keys} }
