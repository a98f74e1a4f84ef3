// Package strictyaml reads a YAML document that people write by hand, and accepts nothing that it does not understand.
//
// The files it reads describe whole experiments. A key that is spelt wrong and silently ignored would be an experiment other
// than the one its author meant, so everything that is wrong is an error, and an error names the file, the line, the column,
// the word, and the nearest word that would be right. All errors of a file come at once, in its order.
//
// A struct field takes part if it has a tag, and its tags are the one source for decoding ([Decode]), writing ([Encode]) and
// JSON Schemas ([Schemas]):
//
//	Name   string         `yaml:"name,required"`
//	TTL    time.Duration  `yaml:"ttl" range:"0s.."`
//	Repeat int            `yaml:"repeat" range:"1..1000"`
//	Clock  *Clock         `yaml:"clock"`
//	Limits                `yaml:",inline"`
//
// A key that is absent leaves its field as it was, so defaults are set before decoding. Fields may be strings, bools, integers,
// [time.Duration], structs, slices, pointers to these, enumerations ([Enum]), and types that read themselves ([Unmarshaler] if
// it is one word, [NodeUnmarshaler] if it is more). A type outside of this list is a mistake in the program, and panics.
//
// Anchors, aliases, merge keys and tags are refused, since a reader should not have to follow references to know what a file
// says, and since they are what makes a small file large. So are duplicate keys, keys that are not strings, keys without a
// value, numbers in other than decimal notation, durations without a unit, several documents in one file, files above
// [MaxBytes] and nesting deeper than 64 levels.
package strictyaml
