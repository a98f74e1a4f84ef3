package strictyaml_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/strictyaml"
)

func quiet(reflect.Type, string) string { return "" }

// A part of a file is without what is required, and with nulls; what is in a list is whole.
func TestSchemasOfParts(t *testing.T) {
	type item struct {
		Name string `yaml:"name,required"`
	}
	type whole struct {
		Length time.Duration              `yaml:"length,required"`
		Items  []item                     `yaml:"items"`
		By     strictyaml.Ordered[string] `yaml:"by"`
		Count  uint8                      `yaml:"count"`
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
