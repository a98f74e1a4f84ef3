package redis

import (
	"encoding/json"
	"fmt"
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

// decodeMap is decode for a map, which JSON has in the order of its keys. One without any may be null there.
func decodeMap[V any](mark, value string) (map[string]V, bool) {
	m, ok := decode[map[string]V](mark, value)
	if ok && m == nil {
		m = map[string]V{}
	}
	return m, ok
}

// HashValue is a hash as a Record's Value, and ParseHash reads it; false if it is of another type.
func HashValue(fields map[string]string) string { return encode(hashMark, fields) }

// ParseHash is the reverse of HashValue.
func ParseHash(value string) (map[string]string, bool) { return decodeMap[string](hashMark, value) }

// SortedSetValue is a sorted set's scores as a Record's Value, and ParseSortedSet reads it.
func SortedSetValue(scores map[string]float64) string { return encode(sortedSetMark, scores) }

// ParseSortedSet is the reverse of SortedSetValue.
func ParseSortedSet(value string) (map[string]float64, bool) {
	return decodeMap[float64](sortedSetMark, value)
}

// ListValue is a list as a Record's Value, and ParseList reads it.
func ListValue(items []string) string { return encode(listMark, items) }

// ParseList is the reverse of ListValue.
func ParseList(value string) (items []string, ok bool) {
	return decode[[]string](listMark, value)
}
