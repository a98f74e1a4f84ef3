package redis

import (
	"time"

	"redlocksim/sim/kernel"
)

// Record is one key as a node keeps it.
type Record struct {
	Key, Value string
	// ExpiresAt is in milliseconds of the node's wall clock since the Unix epoch, as Redis stores it; the key is gone
	// once the clock reads more. 0 means never.
	ExpiresAt int64
}

// Memory is the keyspace of a node, in whatever way a Tier keeps it.
type Memory interface {
	// Dump returns all keys that have not expired, sorted by key.
	Dump() []Record
	// Remove removes keys that no request asks to remove.
	Remove(keys []string)
	// Put sets a key as somebody does by hand, which is no Change.
	Put(Record)
	// Load replaces all that the node knows, scripts included, by the records.
	Load([]Record)
	// TellChanges has f called after every change, from now on, and no other function. That a key runs out, and what Put and
	// Load put in place, are no changes: no request asked for them.
	TellChanges(f func(Change))
	// Peek finds a key, and the true time at which it runs out if nothing happens to the node's clock, or at which it ran
	// out: Redis removes a key when a command looks for it. Forever is never.
	Peek(key string) (r Record, ends kernel.True, ok bool)
}

// Fingerprinted is a Memory that can be compared.
type Fingerprinted interface {
	Memory
	// Fingerprint stands for all that the node knows, scripts included.
	Fingerprint() kernel.Key
}

// Put sets a key of a node that is up by hand.
func (s *Server) Put(r Record) {
	s.BeforeWrite()
	s.memory.Put(r)
	s.changed()
	s.isOther()
}

// Evict removes the keys that are to go, as Redis does to make room. Its replicas learn of it.
func (s *Server) Evict(goes func(key string) bool) {
	var keys []string
	for _, r := range s.Dump() {
		if goes(r.Key) {
			keys = append(keys, r.Key)
		}
	}
	s.BeforeWrite()
	s.memory.Remove(keys)
	s.changed()
	s.isOther()
}

// Change is what a request did to one key of a node: it set or removed the key, or gave it another deadline.
type Change struct {
	Key string
	// Before and After are the key as it was and as it is; zero if there was, or is, none.
	Before, After Record
}

// Set reports that there was no such key before, and Removed that there is none any more.
func (c *Change) Set() bool     { return c.Before.Key == "" }
func (c *Change) Removed() bool { return c.After.Key == "" }

// RunsOut is when a key with this deadline runs out by the node's clock, as it goes now.
func (s *Server) RunsOut(expiresAt int64) kernel.True {
	if expiresAt == 0 {
		return kernel.Forever
	}
	return s.Clock().WhenWall(kernel.Wall((expiresAt + 1) * int64(time.Millisecond)))
}
