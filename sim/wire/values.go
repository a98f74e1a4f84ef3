package wire

import (
	"fmt"

	"redlocksim/sim/redis"
)

// value is a key's value as in redis.Record.
func (m *memory) value(key string) string {
	var text string
	var err error
	switch kind := m.db.Type(key); kind {
	case "string":
		text, err = m.db.Get(key)
	case "hash":
		fields := map[string]string{}
		var names []string
		names, err = m.db.HKeys(key)
		for _, name := range names {
			fields[name] = m.db.HGet(key, name)
		}
		text = redis.HashValue(fields)
	case "list":
		var items []string
		items, err = m.db.List(key)
		text = redis.ListValue(items)
	case "zset":
		var scores map[string]float64
		scores, err = m.db.SortedSet(key)
		text = redis.SortedSetValue(scores)
	default:
		err = fmt.Errorf("it is a %q", kind)
	}
	if err != nil {
		panic(fmt.Sprintf("wire: dump of %q: %v", key, err))
	}
	return text
}

// put stores a value from a redis.Record under a key that does not exist. It cannot fail, as the key is of no other type.
func (m *memory) put(key, value string) {
	if fields, ok := redis.ParseHash(value); ok {
		for name, text := range fields {
			m.db.HSet(key, name, text)
		}
	} else if items, ok := redis.ParseList(value); ok {
		_, _ = m.db.Push(key, items...)
	} else if scores, ok := redis.ParseSortedSet(value); ok {
		for member, score := range scores {
			_, _ = m.db.ZAdd(key, score, member)
		}
	} else {
		_ = m.db.Set(key, value)
	}
}
