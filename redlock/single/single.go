// Package single is a lock on one logical Redis: a single server, a primary with replicas under Sentinel, a cluster, or a
// managed service. It is not Redlock.
//
//	node, err := goredis.NewSingle(goredis.NewSentinelClient(&redis.FailoverOptions{...}))
//	client, err := single.New(node, single.Failover{Tokens: sequence})
//	lease, err := client.Lock(ctx, "invoices/2026-11", 10*time.Second)
//
// The client is that of package redlock, with everything that it has: renewal, signals of loss, wake-up, batches, observers.
//
// # What a failover does to it
//
// Redis replicates asynchronously. A primary answers that the lock is granted, and tells its replicas afterwards. If it dies in
// between, the replica that takes over knows of no lock and grants it to somebody else, while the first holder works on. The
// same happens if the network cuts a primary off from those who replace it: until it notices, two primaries grant locks. So
// [New] asks for a [Failover], which says what is done about that.
package single

import (
	"fmt"
	"slices"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

// Redis is one logical Redis. That of go-redis is redlocksim/redlock/goredis.Single.
type Redis interface {
	// Node is the Redis as the only node of a client. It is for New: a client of redlock.New that has it among others would
	// take it for an independent primary.
	Node() driver.Node
}

// Failover is what is done about a failover that forgets locks. At least one field must be set.
//
//   - Tokens keep what the lock protects safe whatever happens to Redis, if the storage rejects a lower
//     [redlock.Lease.Token] than it has seen.
//   - Guard keeps locks from being granted twice where the old primary is dead: the new one grants none until all that it
//     may not know of have ended. It does not help against an old primary that goes on serving, cut off from the others,
//     for which Redis has min-replicas-to-write.
//   - Replicas make it less likely that a lock is forgotten, and nothing more.
//   - Waived accepts that two clients may have the lock after a failover: for work that may be done twice, or a Redis that
//     never fails over.
//
// redlock.WithFencing is not among them: its counters are on the same Redis, and a failover forgets them with the locks.
type Failover struct {
	Tokens   driver.TokenSource // see redlock.WithTokens
	Guard    *redlock.Guard     // see redlock.WithRestartGuard
	Replicas int                // see redlock.WithReplicas
	Waived   bool
}

// New returns a client that takes locks on one Redis. The error matches [redlock.ErrInvalid] if the Failover is empty, or says
// two things at once, or if an option says again what the Failover says.
func New(on Redis, f Failover, opts ...redlock.Option) (*redlock.Client, error) {
	if on == nil {
		return nil, fmt.Errorf("%w: no Redis", redlock.ErrInvalid)
	}
	means, err := f.options()
	if err != nil {
		return nil, err
	}
	return redlock.New([]driver.Node{on.Node()}, append(slices.Clip(opts), means...)...)
}

// options are the means as the library takes them.
func (f Failover) options() (opts []redlock.Option, err error) {
	if f.Tokens != nil {
		opts = append(opts, redlock.WithTokens(f.Tokens))
	}
	if f.Guard != nil {
		opts = append(opts, redlock.WithRestartGuard(*f.Guard))
	}
	if f.Replicas != 0 {
		opts = append(opts, redlock.WithReplicas(f.Replicas))
	}
	switch {
	case f.Waived && len(opts) > 0:
		return nil, fmt.Errorf("%w: Failover is waived, and something is done about it: leave one out", redlock.ErrInvalid)
	case !f.Waived && len(opts) == 0:
		return nil, fmt.Errorf("%w: Failover is empty: after a failover two clients can have the lock; "+
			"set Tokens, Guard or Replicas, or Waived if that does no harm", redlock.ErrInvalid)
	}
	return opts, nil
}
