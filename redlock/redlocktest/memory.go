package redlocktest

import (
	"strconv"

	"redlocksim/internal/votes"
	"redlocksim/redlock/driver"
)

// memory is what a node holds. Its times are readings of the node's clock in milliseconds, as Redis has them.
type memory struct {
	run       string
	keys      map[string]votes.Key
	published []published              // by the command under way
	listeners func(channel string) int // how many there are
}

// published is a message.
type published struct{ channel, message string }

func newMemory(run string, listeners func(channel string) int) memory {
	return memory{run: run, keys: map[string]votes.Key{}, listeners: listeners}
}

// Get implements votes.Keys. Redis drops a key when its clock reads more than until.
func (m *memory) Get(key string, now int64) (k votes.Key, there bool) {
	k, there = m.keys[key]
	return k, there && (k.Until == 0 || now <= k.Until)
}

// Take implements votes.Keys.
func (m *memory) Set(key, value string, until int64) {
	m.keys[key] = votes.Key{Value: value, Until: until}
}

// Delete implements votes.Keys.
func (m *memory) Delete(key string) { delete(m.keys, key) }

// Publish implements votes.Keys.
func (m *memory) Publish(channel, message string) int {
	m.published = append(m.published, published{channel, message})
	return m.listeners(channel)
}

// RunID implements votes.Keys.
func (m *memory) RunID() string { return m.run }

// steal has another hold a key, and raises the counter if there is one.
func (m *memory) steal(key string, until int64) {
	m.Set(key, "stolen", until)
	if c, is := m.keys[driver.TokenKey(key)]; is {
		token, _ := strconv.ParseInt(c.Value, 10, 64)
		m.Set(driver.TokenKey(key), strconv.FormatInt(token+1, 10), c.Until)
	}
}

// drop deletes the keys that hold a value.
func (m *memory) drop(keys []string, value string) {
	for _, key := range keys {
		if m.keys[key].Value == value {
			m.Delete(key)
		}
	}
}
