package protocols

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
)

// No setting of any protocol may be negative, whether or not the settings beside it have it play a part.
func TestNegativeSettings(t *testing.T) {
	for _, p := range All() {
		for _, f := range p.Name.Keys() {
			for _, n := range valuesOf(t, f.Type).negative {
				lock := fmt.Sprintf("{protocol: %s, %s: %s}", p.Name, f.Key, n.value)
				if err := checked(lock); err == nil || !strings.Contains(err.Error(), n.number) {
					t.Errorf("%s: %v", lock, err)
				}
			}
		}
	}
}

func checked(lock string) error {
	s := Default()
	if err := strictyaml.Decode("f", []byte(lock), &s); err != nil {
		return err
	}
	return s.Check(5)
}

// values are values of a setting, as in a file: one in which all numbers are positive, one in which all are 0, and those in
// which a single one is negative.
type values struct {
	positive, zero string
	negative       []negative
}

type negative struct{ value, number string }

func numeric(positive, zero string) values {
	return values{positive, zero, []negative{{"-" + positive, "-" + positive}}}
}

// valuesOf are values of a type that settings have; a type that it does not know is a failure.
func valuesOf(t *testing.T, of reflect.Type) values {
	switch {
	case of == reflect.TypeFor[int]():
		return numeric("3", "0")
	case of == reflect.TypeFor[time.Duration]():
		return numeric("10s", "0s")
	case of == reflect.TypeFor[faults.Rate]():
		return numeric("1%", "0%")
	case of.Kind() == reflect.Bool:
		return values{"true", "false", nil}
	case len(strictyaml.WordsOf(of)) > 0:
		return values{strictyaml.WordsOf(of)[0], strictyaml.WordsOf(of)[0], nil}
	case of.Kind() == reflect.Pointer:
		return valuesOf(t, of.Elem())
	case of.Kind() == reflect.Struct && len(strictyaml.Fields(of)) > 0:
		return valuesOfAll(t, strictyaml.Fields(of))
	}
	t.Errorf("%v: which values of it are negative?", of)
	return values{}
}

// valuesOfAll are values of a struct. A number in it is negative beside others that are positive, and beside others that are 0.
func valuesOfAll(t *testing.T, fields []strictyaml.Field) values {
	of := make([]values, len(fields))
	positive, zero := make([]string, len(fields)), make([]string, len(fields))
	for i, f := range fields {
		of[i] = valuesOf(t, f.Type)
		positive[i], zero[i] = of[i].positive, of[i].zero
	}
	mapping := func(values []string) string {
		var entries []string
		for i, f := range fields {
			entries = append(entries, f.Key+": "+values[i])
		}
		return "{" + strings.Join(entries, ", ") + "}"
	}
	all := values{mapping(positive), mapping(zero), nil}
	for i := range fields {
		for _, n := range of[i].negative {
			for _, others := range [][]string{positive, zero} {
				beside := slices.Clone(others)
				beside[i] = n.value
				all.negative = append(all.negative, negative{mapping(beside), n.number})
			}
		}
	}
	return all
}
