package strictyaml

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
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

var (
	knownFields  sync.Map // reflect.Type to *fields
	checkedTypes sync.Map // reflect.Type to struct{}

	durationType        = reflect.TypeFor[time.Duration]()
	unmarshalerType     = reflect.TypeFor[Unmarshaler]()
	nodeUnmarshalerType = reflect.TypeFor[NodeUnmarshaler]()
	marshalerType       = reflect.TypeFor[Marshaler]()
	nodeMarshalerType   = reflect.TypeFor[NodeMarshaler]()
	wrapperType         = reflect.TypeFor[wrapper]()
)

// A wrapper is a type of this package that decodes another type.
type wrapper interface {
	wrapped() reflect.Type
}

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

// checkTarget panics if a type cannot be decoded into. It looks at the whole type, so that a mistake shows at the first file
// and not at the first file that has the key.
func checkTarget(into any) {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		panicf("decoding into %T, which is not a non-nil pointer", into)
	}
	t := v.Type().Elem()
	if _, ok := checkedTypes.Load(t); ok {
		return
	}
	checkType(t, make(map[reflect.Type]bool), readsItself)
	checkedTypes.Store(t, struct{}{})
}

// readsItself says whether a type has an unmarshaler.
func readsItself(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(nodeUnmarshalerType) || reflect.PointerTo(t).Implements(unmarshalerType)
}

// checkType looks at a type and all it consists of; atomic says which types have methods of their own.
func checkType(t reflect.Type, visited map[reflect.Type]bool, atomic func(reflect.Type) bool) {
	if visited[t] {
		return
	}
	visited[t] = true
	if reflect.PointerTo(t).Implements(wrapperType) {
		checkType(reflect.New(t).Interface().(wrapper).wrapped(), visited, atomic)
		return
	}
	if enumerations[t] != nil || atomic(t) || t == durationType {
		return
	}
	if t.PkgPath() != "" && (reflect.Zero(t).CanInt() || reflect.Zero(t).CanUint()) {
		panicf("%v is no number, and its words are not declared", t)
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
	case reflect.Slice:
		checkType(t.Elem(), visited, atomic)
	case reflect.Pointer:
		if t.Elem().Kind() == reflect.Pointer {
			panicf("cannot decode into %v", t)
		}
		checkType(t.Elem(), visited, atomic)
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			panicf("cannot decode into %v: its keys are not strings", t)
		}
		checkType(t.Elem(), visited, atomic)
	case reflect.Struct:
		for _, f := range fieldsOf(t).named {
			checkType(f.Type, visited, atomic)
		}
	default:
		panicf("cannot decode into %v", t)
	}
}

func panicf(format string, args ...any) {
	panic("strictyaml: " + fmt.Sprintf(format, args...))
}
