package strictyaml_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
)

type mute struct{}

func (mute) UnmarshalNode(*strictyaml.Decoder, *yaml.Node) {}

type wordless struct{}

func (*wordless) UnmarshalScalar(string) error { return nil }

func quiet(reflect.Type, string) string { return "" }

// What reads itself and does not say what is a mistake in the program, which shows at the first schema.
func TestSchemasOfWhatDoesNotSay(t *testing.T) {
	for name, of := range map[string]reflect.Type{
		"does not say what it reads": reflect.TypeFor[struct {
			M mute `yaml:"m"`
		}](),
		"does not say which words it takes": reflect.TypeFor[struct {
			W wordless `yaml:"w"`
		}](),
	} {
		func() {
			defer func() {
				if p, _ := recover().(string); !strings.Contains(p, name) {
					t.Errorf("panics with %q, want %q", p, name)
				}
			}()
			(&strictyaml.Schemas{Comment: quiet}).Document(of)
		}()
	}
}

// A part of a file is without what is required, and with nulls; what is in a list is whole.
func TestSchemasOfParts(t *testing.T) {
	type item struct {
		Name string `yaml:"name,required"`
	}
	type whole struct {
		Length time.Duration              `yaml:"length,required"`
		Items  []item                     `yaml:"items"`
		By     strictyaml.Ordered[string] `yaml:"by"`
		Count  strictyaml.Located[uint8]  `yaml:"count"`
	}
	s := &strictyaml.Schemas{Comment: quiet}
	s.Document(reflect.TypeFor[whole]())
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	full := text(s.Definition(s.Of(reflect.TypeFor[whole]())))
	part := text(s.Definition(s.Part().Of(reflect.TypeFor[whole]())))
	for _, c := range []struct {
		in, has string
		want    bool
	}{
		{full, `"required":["length"]`, true},
		{part, `"required"`, false},
		{full, `"null"`, false},
		{part, `"items":{"anyOf":[{"type":"array","items":{"$ref":"#/definitions/item"}},{"type":"null"}]}`, true},
		{full, `"by":{"type":"object","additionalProperties":{"type":"string"}}`, true},
		{full, `"count":{"type":"integer","minimum":0}`, true},
	} {
		if strings.Contains(c.in, c.has) != c.want {
			t.Errorf("%s in %s: want %v", c.has, c.in, c.want)
		}
	}
}
