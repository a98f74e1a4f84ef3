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
	return &backend{stores: map[*redis.Server]*store{}, messages: spare.Get().(*messages)}
}

type backend struct {
	stores   map[*redis.Server]*store
	messages *messages // nil when the run is over
}

func (b *backend) Memory(s *redis.Server) redis.Memory {
	st := &store{server: s, keys: map[string]record{}, known: map[*rediscmd.Script]bool{}}
	b.stores[s] = st
	return st
}

func (b *backend) Nodes(client *kernel.Process, servers []*redis.Server, links []*network.Link) []driver.Node {
	nodes := make([]driver.Node, len(servers))
	for i, s := range servers {
		nodes[i] = &node{client: client, store: b.stores[s], link: links[i], messages: b.messages}
	}
	return nodes
}

func (b *backend) Serve(s *redis.Server, x *network.Exchange) {
	x.Client().(interface{ serve(*store) }).serve(s.Memory().(*store))
}

func (b *backend) Close() error {
	if b.messages != nil {
		b.messages.end()
		b.messages = nil
	}
	return nil
}

// store is the memory of a node.
type store struct {
	server      *redis.Server
	keys        map[string]record
	scripts     batch.Scripts // the library's that the node knows
	known       map[*rediscmd.Script]bool
	interpreted *script.Scripts    // of known; nil before the first
	changed     func(redis.Change) // nil unless somebody wants to know
}

type record struct {
	value     string
	expiresAt int64 // as in redis.Record
}

func (r record) of(key string) redis.Record {
	return redis.Record{Key: key, Value: r.value, ExpiresAt: r.expiresAt}
}

// get finds a key that has not expired. Redis expires a key when its clock reads more than the deadline.
func (s *store) get(key string, now int64) (record, bool) {
	r, ok := s.keys[key]
	if ok && r.expiresAt != 0 && now > r.expiresAt {
		delete(s.keys, key)
		return record{}, false
	}
	return r, ok
}

// put sets a key for a request.
func (s *store) put(key string, r record) {
	if s.changed == nil {
		s.keys[key] = r
		return
	}
	before := s.before(key)
	s.keys[key] = r
	s.changed(redis.Change{Key: key, Before: before, After: r.of(key)})
}

// before is a key as it is before a request changes it.
func (s *store) before(key string) redis.Record {
	if r, ok := s.keys[key]; ok {
		return r.of(key)
	}
	return redis.Record{}
}

// take removes a key for a request.
func (s *store) take(key string) {
	before := s.before(key)
	delete(s.keys, key)
	if s.changed != nil {
		s.changed(redis.Change{Key: key, Before: before})
	}
}

// TellChanges implements redis.Observable.
func (s *store) TellChanges(f func(redis.Change)) { s.changed = f }

// Peek implements redis.Observable.
func (s *store) Peek(key string) (redis.Record, kernel.True, bool) {
	r, ok := s.keys[key]
	if !ok {
		return redis.Record{}, 0, false
	}
	return r.of(key), s.server.RunsOut(r.expiresAt), true
}

// keys are the store's, as the library's commands see them.
type keys struct{ *store }

// Get implements votes.Keys.
func (k keys) Get(key string, now int64) (votes.Key, bool) {
	r, there := k.get(key, now)
	return votes.Key{Value: r.value, Until: r.expiresAt, IsOther: there && !redis.IsString(r.value)}, there
}

// Take implements votes.Keys.
func (k keys) Take(key, value string, until int64) { k.put(key, record{value, until}) }

// Set implements votes.Keys.
func (k keys) Set(key, value string, until int64) { k.put(key, record{value, until}) }

// Delete implements votes.Keys.
func (k keys) Delete(key string) { k.take(key) }

// Publish implements votes.Keys.
func (k keys) Publish(channel string) { k.server.Publish(channel, "") }

// RunID implements votes.Keys.
func (k keys) RunID() string { return k.server.RunID() }

func (s *store) Dump() []redis.Record {
	now := s.server.Clock().Wall().Milliseconds()
	records := make([]redis.Record, 0, len(s.keys))
	for key, r := range s.keys {
		if r.expiresAt == 0 || now <= r.expiresAt {
			records = append(records, r.of(key))
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
func (s *store) Put(r redis.Record) {
	s.keys[r.Key] = record{r.Value, r.ExpiresAt}
}

// Load implements redis.Memory.
func (s *store) Load(records []redis.Record) {
	clear(s.keys)
	s.scripts = 0
	clear(s.known)
	for _, r := range records {
		s.keys[r.Key] = record{value: r.Value, expiresAt: r.ExpiresAt}
	}
}
