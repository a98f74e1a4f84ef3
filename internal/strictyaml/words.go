package strictyaml

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Enumeration is the words that files have for the values of a type.
type Enumeration[T comparable] struct{ words *words }

// words are those of one type.
type words struct {
	what   string
	list   []string
	values []any // the value of each
}

// enumerations are the words by their type. They are declared while packages are initialised, and only read from then on.
var enumerations = map[reflect.Type]*words{}

// Enum declares, in the initialiser of a package variable, that a type is an enumeration: its values are read, written and
// described as the words added with Word. what names the type in errors: "no such clean-up".
func Enum[T comparable](what string) Enumeration[T] {
	w := &words{what: what}
	enumerations[reflect.TypeFor[T]()] = w
	return Enumeration[T]{w}
}

// EnumOf is [Enum] for texts that are their own words.
func EnumOf[T ~string](what string, values ...T) Enumeration[T] {
	e := Enum[T](what)
	for _, v := range values {
		e.Word(string(v), v)
	}
	return e
}

// Word adds a word. A value that has several is written as the first of them.
func (e Enumeration[T]) Word(word string, value T) Enumeration[T] {
	e.words.list, e.words.values = append(e.words.list, word), append(e.words.values, value)
	return e
}

// Parse reads a word. The error is an [*Invalid] with all words.
func (e Enumeration[T]) Parse(word string) (value T, err error) {
	return value, e.words.parse(word, reflect.ValueOf(&value).Elem())
}

func (w *words) parse(word string, into reflect.Value) error {
	i := slices.Index(w.list, word)
	if i < 0 {
		return &Invalid{Msg: "no such " + w.what, Word: word, Valid: w.list}
	}
	into.Set(reflect.ValueOf(w.values[i]))
	return nil
}

// of is the word for a value.
func (w *words) of(value any) (string, error) {
	if i := slices.Index(w.values, value); i >= 0 {
		return w.list[i], nil
	}
	return "", fmt.Errorf("there is no word for %s %v", w.what, value)
}

// WordsOf are the words of a type that is an enumeration; nil if it is none.
func WordsOf(t reflect.Type) []string {
	if w := enumerations[t]; w != nil {
		return slices.Clone(w.list)
	}
	return nil
}

// Enumerations are all types that are declared as one, in the order of their names.
func Enumerations() []reflect.Type {
	return slices.SortedFunc(maps.Keys(enumerations), func(a, b reflect.Type) int { return strings.Compare(a.String(), b.String()) })
}
