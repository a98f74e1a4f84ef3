package redis

import "redlocksim/sim/kernel"

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
}

// RemovalTracker is a Memory that remembers when keys went.
type RemovalTracker interface {
	Memory
	// TrackRemovals has it remember, from now on.
	TrackRemovals()
	// Freed is the true time from which a key was or will be in nobody's way: when it was removed or ran out, or will run
	// out if nothing happens to the clock. A key that was set later than since is somebody else's vote, and counts as
	// freed when it was set. Forever is never; zero is always.
	Freed(key string, since kernel.True) kernel.True
}

// Fingerprinted is a Memory that can be compared.
type Fingerprinted interface {
	Memory
	// Fingerprint stands for all that the node knows, scripts included.
	Fingerprint() kernel.Key
}
