package protocols

import (
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"redlocksim/internal/strictyaml"
)

// DescribeNode is what UnmarshalNode reads.
func (Settings) DescribeNode(s *strictyaml.Schemas) *jsonschema.Schema {
	return s.Struct(reflect.TypeFor[Settings]())
}
