package redlock

import "time"

// Fencing gives every grant of a resource a number that is higher than those of all earlier grants: [Lease.Token]. Storage that
// rejects a lower token than it has seen is safe from holders that are paused for longer than their lease.
//
// Each node keeps a counter per resource. A client proposes a token with its acquire. A node votes only if the token is above
// its counter, and then sets the counter to it. Two quorums share a node, so no two grants have the same token, and of two
// grants that do not overlap the later one has the higher token.
//
// That holds as long as fewer than w + q − N of the w nodes that voted for the earlier grant have ever lost their counter, with
// N nodes and a quorum of q. With five nodes and a quorum of three, no node may lose its counter; with a quorum of four, two
// may. The restart guard keeps a node from voting for a while, but does not restore its counters.
//
// The client proposes one more than the highest token of the resource that it has proposed or heard of. If that is too low, a
// quorum answers with its counters, and the client proposes a higher token once in the same attempt. Tokens have gaps. The
// largest is 2^53−1, because Redis' scripts compute with floating-point numbers.
//
// Counters must not be deleted or evicted: run the nodes with maxmemory-policy noeviction. A counter that was set far too high
// costs its node the vote for that resource and does no other harm, as long as at most N − q nodes are down or have one: a
// client believes a counter only if N − q + 1 nodes, and at least two, have about that much. To restore the vote, set it to the
// highest counter of the other nodes.
type Fencing struct {
	// CounterTTL is how long a node keeps a counter after its last vote for the resource, a whole number of milliseconds. If
	// nobody locks a resource for longer, or one holder keeps it for longer, its tokens may start again. Zero means 90 days.
	// All clients should have the same.
	CounterTTL time.Duration
}

// defaultCounterTTL is how long nodes keep the counters unless set otherwise.
const defaultCounterTTL = 90 * 24 * time.Hour

// WithFencing gives every grant a fencing token. All clients of a resource must have it, since votes for a client without it
// raise no counter. It costs a second round trip where the first token is too low.
func WithFencing(f Fencing) Option {
	return option("WithFencing", func(s *settings) error {
		if f.CounterTTL == 0 {
			f.CounterTTL = defaultCounterTTL
		}
		s.counterTTL = f.CounterTTL
		return wholeMilliseconds("counter TTL", f.CounterTTL)
	})
}
