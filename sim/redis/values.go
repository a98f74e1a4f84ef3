package redis

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The Value of a Record whose key is not a string is one of these marks and then JSON.
const (
	hashMark      = "\x00hash"
	listMark      = "\x00list"
	sortedSetMark = "\x00zset"
)

// IsString says whether a Record's Value is that of a string.
func IsString(value string) bool { return !strings.HasPrefix(value, "\x00") }

type pair[V any] struct {
	Name  string
	Value V
}

// sorted is a map as pairs in the order of their names.
func sorted[V any](m map[string]V) []pair[V] {
	pairs := make([]pair[V], 0, len(m))
	for name, v := range m {
		pairs = append(pairs, pair[V]{name, v})
	}
	slices.SortFunc(pairs, func(a, b pair[V]) int { return cmp.Compare(a.Name, b.Name) })
	return pairs
}

func encode(mark string, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("sim: value %v: %v", v, err))
	}
	return mark + string(text)
}

// decode reads a value; it is false if the value is of another type.
func decode[V any](mark, value string) (v V, ok bool) {
	text, ok := strings.CutPrefix(value, mark)
	if !ok {
		return v, false
	}
	var of V // after that: most values are of another type, for which no memory is needed
	if err := json.Unmarshal([]byte(text), &of); err != nil {
		panic(fmt.Sprintf("sim: value %q: %v", value, err))
	}
	return of, true
}

func parseMap[V any](mark, value string) (map[string]V, bool) {
	pairs, ok := decode[[]pair[V]](mark, value)
	if !ok {
		return nil, false
	}
	m := make(map[string]V, len(pairs))
	for _, p := range pairs {
		m[p.Name] = p.Value
	}
	return m, true
}

// HashValue is a hash as a Record's Value, and ParseHash reads it; false if it is of another type.
func HashValue(fields map[string]string) string { return encode(hashMark, sorted(fields)) }

// ParseHash is the reverse of HashValue.
func ParseHash(value string) (map[string]string, bool) { return parseMap[string](hashMark, value) }

// SortedSetValue is a sorted set's scores as a Record's Value, and ParseSortedSet reads it.
func SortedSetValue(scores map[string]float64) string { return encode(sortedSetMark, sorted(scores)) }

// ParseSortedSet is the reverse of SortedSetValue.
func ParseSortedSet(value string) (map[string]float64, bool) {
	return parseMap[float64](sortedSetMark, value)
}

// ListValue is a list as a Record's Value, and ParseList reads it.
func ListValue(items []string) string { return encode(listMark, items) }

// ParseList is the reverse of ListValue.
func ParseList(value string) (items []string, ok bool) {
	return decode[[]string](listMark, value)
}
