// Package model is the tier that the searches run on: Redis semantics in Go, as far as lock protocols use them, with replies as
// plain callbacks.
package model

import (
	"cmp"
	"slices"

	"redlocksim/internal/batch"
	"redlocksim/internal/rediscmd"
	"redlocksim/internal/votes"
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/script"
)

// New returns the tier, for one run.
func New() redis.Tier {
	return &backend{stores: map[*redis.Server]*store{}}
}

type backend struct{ stores map[*redis.Server]*store }

func (b *backend) Memory(s *redis.Server) redis.Memory {
	st := &store{server: s, keys: map[string]redis.Record{}, known: map[*rediscmd.Script]bool{}}
	b.stores[s] = st
	return st
}

func (b *backend) Nodes(client *kernel.Process, servers []*redis.Server, links []*network.Link) []driver.Node {
	nodes := make([]driver.Node, len(servers))
	for i, s := range servers {
		nodes[i] = &node{client: client, store: b.stores[s], link: links[i]}
	}
	return nodes
}

func (b *backend) Execute(s *redis.Server, x *network.Exchange) {
	x.Client().(interface{ execute(*store) }).execute(s.Memory().(*store))
}

func (b *backend) Close() error { return nil }

// store is the memory of a node.
type store struct {
	server      *redis.Server
	keys        map[string]redis.Record
	scripts     batch.Scripts // the library's that the node knows
	known       map[*rediscmd.Script]bool
	interpreted *script.Scripts    // of known; nil before the first
	changed     func(redis.Change) // nil unless somebody wants to know
}

// get finds a key that has not expired. Redis expires a key when its clock reads more than the deadline.
func (s *store) get(key string, now int64) (redis.Record, bool) {
	r, ok := s.keys[key]
	if ok && r.ExpiresAt != 0 && now > r.ExpiresAt {
		delete(s.keys, key)
		return redis.Record{}, false
	}
	return r, ok
}

// put sets a key for a request.
func (s *store) put(r redis.Record) {
	before := s.keys[r.Key]
	s.keys[r.Key] = r
	if s.changed != nil {
		s.changed(redis.Change{Key: r.Key, Before: before, After: r})
	}
}

// take removes a key for a request.
func (s *store) take(key string) {
	before := s.keys[key]
	delete(s.keys, key)
	if s.changed != nil {
		s.changed(redis.Change{Key: key, Before: before})
	}
}

// TellChanges implements redis.Memory.
func (s *store) TellChanges(f func(redis.Change)) { s.changed = f }

// Peek implements redis.Memory.
func (s *store) Peek(key string) (redis.Record, kernel.True, bool) {
	r, ok := s.keys[key]
	if !ok {
		return r, 0, false
	}
	return r, s.server.RunsOut(r.ExpiresAt), true
}

// keys are the store's, as the library's commands see them.
type keys struct{ *store }

// Get implements votes.Keys.
func (k keys) Get(key string, now int64) (votes.Key, bool) {
	r, there := k.get(key, now)
	return votes.Key{Value: r.Value, Until: r.ExpiresAt, IsOther: there && !redis.IsString(r.Value)}, there
}

// Set implements votes.Keys.
func (k keys) Set(key, value string, until int64) {
	k.put(redis.Record{Key: key, Value: value, ExpiresAt: until})
}

// Delete implements votes.Keys.
func (k keys) Delete(key string) { k.take(key) }

// Publish implements votes.Keys.
func (k keys) Publish(channel, message string) int { return k.server.Publish(channel, message) }

// RunID implements votes.Keys.
func (k keys) RunID() string { return k.server.RunID() }

func (s *store) Dump() []redis.Record {
	now := s.server.Clock().Wall().Milliseconds()
	records := make([]redis.Record, 0, len(s.keys))
	for _, r := range s.keys {
		if r.ExpiresAt == 0 || now <= r.ExpiresAt {
			records = append(records, r)
		}
	}
	slices.SortFunc(records, func(a, b redis.Record) int { return cmp.Compare(a.Key, b.Key) })
	return records
}

// Remove implements redis.Memory.
func (s *store) Remove(keys []string) {
	for _, key := range keys {
		delete(s.keys, key)
	}
}

// Put implements redis.Memory.
func (s *store) Put(r redis.Record) { s.keys[r.Key] = r }

// Load implements redis.Memory.
func (s *store) Load(records []redis.Record) {
	clear(s.keys)
	s.scripts = 0
	clear(s.known)
	for _, r := range records {
		s.keys[r.Key] = r
	}
}

// Fingerprint implements redis.Fingerprinted. It does not depend on the order of the map's keys.
func (s *store) Fingerprint() kernel.Key {
	print := kernel.Key(s.scripts).With(uint64(len(s.known)))
	for name, r := range s.keys {
		print ^= kernel.Key(0).WithString(name).WithString(r.Value).With(uint64(r.ExpiresAt))
	}
	return print
}
