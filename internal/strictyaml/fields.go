package strictyaml

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Field is a field of a struct that a key of the file is decoded into.
type Field struct {
	// Key is what the file calls it.
	Key string
	// Owner is the struct that declares it: the struct itself, or one that is inline in it.
	Owner reflect.Type
	// Name and Type are those of the field in Owner.
	Name string
	Type reflect.Type
	// Index is where it is, as reflect.Value.FieldByIndex takes it.
	Index    []int
	required bool
}

// Fields lists the fields of a struct type that have keys, in the order of the struct, even if the type decodes itself.
func Fields(t reflect.Type) []Field {
	f := fieldsOf(t)
	all := make([]Field, len(f.names))
	for i, name := range f.names {
		all[i] = f.named[name]
	}
	return all
}

type fields struct {
	names []string // in the order of the struct
	named map[string]Field
}

var knownFields sync.Map // reflect.Type to *fields

func fieldsOf(t reflect.Type) *fields {
	if known, ok := knownFields.Load(t); ok {
		return known.(*fields)
	}
	f := &fields{named: make(map[string]Field)}
	f.collect(t, nil)
	knownFields.Store(t, f)
	return f
}

func (f *fields) collect(t reflect.Type, prefix []int) {
	for i := range t.NumField() {
		sf := t.Field(i)
		tag, tagged := sf.Tag.Lookup("yaml")
		if !tagged || tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		index := slices.Concat(prefix, []int{i})
		if options == "inline" {
			if name != "" || sf.Type.Kind() != reflect.Struct || !sf.IsExported() && !sf.Anonymous {
				panicf("%v.%s: only a struct can be inline, and it has no name", t, sf.Name)
			}
			f.collect(sf.Type, index)
			continue
		}
		switch {
		case !sf.IsExported():
			panicf("%v.%s: an unexported field with a yaml tag", t, sf.Name)
		case name == "" || options != "" && options != "required":
			panicf("%v.%s: tag %q is not a name, with required or inline", t, sf.Name, tag)
		case f.named[name].Index != nil:
			panicf("%v.%s: a second field named %q", t, sf.Name, name)
		}
		f.names = append(f.names, name)
		f.named[name] = Field{Key: name, Owner: t, Name: sf.Name, Type: sf.Type, Index: index, required: options == "required"}
	}
}

// target is the variable that into points to.
func target(into any) reflect.Value {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		panicf("decoding into %T, which is not a non-nil pointer", into)
	}
	return v.Elem()
}

func panicf(format string, args ...any) {
	panic("strictyaml: " + fmt.Sprintf(format, args...))
}
