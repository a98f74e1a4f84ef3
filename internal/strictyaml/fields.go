package strictyaml

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
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
	within   *bounds // nil if there are none
}

// bounds are what a number or a duration, in nanoseconds, must be within.
type bounds struct{ least, most int64 }

var knownFields sync.Map // reflect.Type to []Field

// Fields lists the fields of a struct type that have keys, in the order of the struct, even if the type decodes itself.
func Fields(t reflect.Type) []Field {
	if known, ok := knownFields.Load(t); ok {
		return known.([]Field)
	}
	all := collect(t, nil)
	knownFields.Store(t, all)
	return all
}

func collect(t reflect.Type, prefix []int) (all []Field) {
	for i := range t.NumField() {
		sf := t.Field(i)
		tag := sf.Tag.Get("yaml")
		if tag == "" || tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		index := slices.Concat(prefix, []int{i})
		if options == "inline" {
			all = append(all, collect(sf.Type, index)...)
			continue
		}
		if !sf.IsExported() || name == "" || options != "" && options != "required" {
			panicf("%v.%s: an exported field has a tag with a name and perhaps required, not %q", t, sf.Name, tag)
		}
		all = append(all, Field{Key: name, Owner: t, Name: sf.Name, Type: sf.Type, Index: index, required: options == "required",
			within: boundsOf(sf)})
	}
	for i, f := range all {
		if slices.ContainsFunc(all[:i], func(other Field) bool { return other.Key == f.Key }) {
			panicf("%v: a second field named %q", t, f.Key)
		}
	}
	return all
}

// boundsOf reads the tag of a range: "1..5", "0s..".
func boundsOf(f reflect.StructField) *bounds {
	least, most, is := strings.Cut(f.Tag.Get("range"), "..")
	if !is {
		return nil
	}
	end := func(text string, open int64) int64 {
		if text == "" {
			return open
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if isDuration(f.Type) {
			var d time.Duration
			d, err = time.ParseDuration(text)
			n = int64(d)
		}
		if err != nil {
			panicf("the range of %s: %v", f.Name, err)
		}
		return n
	}
	return &bounds{end(least, math.MinInt64), end(most, math.MaxInt64)}
}

func isDuration(t reflect.Type) bool { return indirect(t) == reflect.TypeFor[time.Duration]() }

func indirect(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// misses says how a value is outside of the bounds of its field; empty if it is not.
func (f *Field) misses(v reflect.Value) string {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if f.within == nil || !v.CanInt() || v.Int() >= f.within.least && v.Int() <= f.within.most {
		return ""
	}
	text := func(n int64) string {
		if isDuration(f.Type) {
			return written(time.Duration(n))
		}
		return strconv.FormatInt(n, 10)
	}
	switch {
	case f.within.most < math.MaxInt64:
		return "must be from " + text(f.within.least) + " to " + text(f.within.most)
	case f.within.least > 1:
		return "must be at least " + text(f.within.least)
	case f.within.least == 1:
		return "must be positive"
	}
	return "must not be negative"
}

// checkInteger panics if a type that is none of the others is no integer, or one whose values should be words.
func checkInteger(t reflect.Type) {
	if zero := reflect.Zero(t); !zero.CanInt() && !zero.CanUint() || t.PkgPath() != "" {
		panicf("cannot decode into %v", t)
	}
}

func panicf(format string, args ...any) {
	panic("strictyaml: " + fmt.Sprintf(format, args...))
}

// written formats a duration in the largest unit in which it is a whole number: 90s and not 1m30s, so that durations are easy
// to compare.
func written(d time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "us"}} {
		if d != 0 && d%unit.length == 0 {
			return strconv.FormatInt(int64(d/unit.length), 10) + unit.name
		}
	}
	if d == 0 {
		return "0s"
	}
	return strconv.FormatInt(int64(d), 10) + "ns"
}
