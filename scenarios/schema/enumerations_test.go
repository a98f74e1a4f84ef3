package schema_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	_ "redlocksim/live"
	_ "redlocksim/locktest"
	_ "redlocksim/reports"
	_ "redlocksim/search/audit"
	_ "redlocksim/search/experiment"

	"redlocksim/internal/strictyaml"
)

// Every word of every enumeration is read, is written as a word that is read as the same, and is what a slip in it suggests;
// and every value up to the last one has a word.
func TestEveryWordOfEveryEnumeration(t *testing.T) {
	all := strictyaml.Enumerations()
	if len(all) < 15 {
		t.Errorf("there are only %d enumerations: %v", len(all), all)
	}
	for _, enum := range all {
		file := reflect.StructOf([]reflect.StructField{{Name: "Key", Type: enum, Tag: `yaml:"key,required"`}})
		read := func(word string) (reflect.Value, error) {
			v := reflect.New(file)
			return v, strictyaml.Decode("f", []byte("key: "+word), v.Interface())
		}
		values := map[any]bool{}
		for _, word := range strictyaml.WordsOf(enum) {
			v, err := read(word)
			if err != nil {
				t.Errorf("%v: %v", enum, err)
				continue
			}
			values[v.Elem().Field(0).Interface()] = true
			text, err := strictyaml.Encode(v.Interface(), reflect.New(file).Interface())
			again := reflect.New(file)
			if err == nil {
				err = strictyaml.Decode("f", text, again.Interface())
			}
			if err != nil || again.Elem().Field(0).Interface() != v.Elem().Field(0).Interface() {
				t.Errorf("%v: %q is written as %q, %v", enum, word, text, err)
			}
			_, err = read(word + "x")
			var slip *strictyaml.Error
			if !errors.As(err, &slip) || !strings.Contains(slip.Error(), "did you mean") && len(word) > 2 {
				t.Errorf("%v: %qx suggests nothing: %v", enum, word, err)
			}
		}
		if last := reflect.New(enum).Elem(); last.CanUint() {
			for i := range uint64(len(values)) {
				if last.SetUint(i); !values[last.Interface()] {
					t.Errorf("%v: %d has no word", enum, i)
				}
			}
		}
	}
}
