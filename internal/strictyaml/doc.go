// Package strictyaml reads a YAML document that people write by hand, and accepts nothing that it does not understand.
//
// The files it reads describe whole experiments. A key that is spelt wrong and silently ignored would be an experiment other
// than the one its author meant, so everything that is wrong is an error, and an error names the file, the line, the column,
// the word, and the nearest word that would be right. All errors of a file come at once, in the order of the file.
//
// [Decode] is the entry point. [DecodeNode] decodes a part of a document that was parsed before, and [Merge] lays one part over
// another. A type with a grammar of its own implements [Unmarshaler] (it is one word) or [NodeUnmarshaler] (it is more than
// that). [Located] and [Ordered] keep positions for checks that can only be made once everything is decoded.
//
// # Fields
//
// A struct field takes part if it has a tag:
//
//	Name  string        `yaml:"name,required"`
//	TTL   time.Duration `yaml:"ttl"`
//	Clock *Clock        `yaml:"clock"`
//	Limits              `yaml:",inline"`
//
// A key that is absent leaves its field as it was, so defaults are set before decoding. Fields may be strings, bools, integers,
// [time.Duration], structs, slices, maps with string keys, pointers to these, and types that implement one of the two
// interfaces. There are no floats: a ratio belongs in a decimal type that implements [Unmarshaler]. A type outside of this list
// is a mistake in the program and not in the file: decoding what a file has of one panics, and so does describing one.
//
// # Writing
//
// [Encode] writes what Decode reads back as the same, in as few keys as that takes. It finds its way by the same tags, so that
// a new field is written without more ado; a type that decodes itself encodes itself too, as a [Marshaler] or a
// [NodeMarshaler].
//
// # Refused
//
// Anchors, aliases, merge keys and tags are refused, since a reader should not have to follow references to know what a file
// says, and since they are what makes a small file large. So are duplicate keys, keys that are not strings, keys without a
// value, numbers in other than decimal notation, durations without a unit, several documents in one file, files above
// [MaxBytes] and nesting deeper than 64 levels.
package strictyaml
