package redlock

import (
	"sync"
	"time"

	"redlocksim/redlock/driver"
)

// Guard keeps nodes that may have forgotten votes from voting until no lock can rest on those: the delayed restart of
// the Redlock documentation, enforced by the nodes themselves as part of each acquire, without a further round trip.
//
// A node keeps a record of the run (the run id of INFO server) in which it was found fit to vote. When it is asked for
// a vote and has no such record or that of another run, it has restarted, or was emptied: it goes into quarantine, in
// which it does not vote. The quarantine ends for all when the node's clock and one client's lock clock agree that
// MaxTTL has passed since it began: the client by having watched this very quarantine for that long. So a clock step on
// the node does not end it early (a step back makes it longer), and neither does a client that is mistaken. A client
// that only lives for less than MaxTTL cannot end a quarantine; another must, or [Client.PrepareGuard].
//
// Belief in a lock that rests on a vote of the earlier run began before that run ended, thus before the quarantine was
// first watched, and is at most MaxTTL less the drift allowance by the holder's clock. So the guard is safe while the
// drift allowance covers the watching client's clock as it must cover those of the nodes.
//
// A node never seen before is in quarantine, too: see PrepareGuard. An extend needs no guard, since it counts only nodes
// that have the key. Not detected are: clients without the guard; keys that were evicted or deleted one by one (run
// nodes with maxmemory-policy noeviction); a machine put back to an earlier snapshot, whose server goes on with the run id
// it had; an old master that goes on beside its promoted replica. A replica takes no part: it refuses to write the
// record. The nodes' users must be allowed INFO and TIME.
type Guard struct {
	// MaxTTL is the largest TTL of any lock, a whole number of milliseconds. A larger TTL is refused. All clients must
	// have the same: a node with the record of another value has no vote, and the error matches [ErrMaxTTL].
	MaxTTL time.Duration

	// TrustNodeClock lets the node's clock alone end a quarantine. It is UNSAFE: a step forward ends it early. It is
	// there to show why, in simulations.
	TrustNodeClock bool
}

// WithRestartGuard makes nodes that restarted sit out until locks they may have forgotten have ended. Without it such a
// node votes at once, and must be kept from it by other means.
func WithRestartGuard(g Guard) Option {
	return func(c *Client) error {
		c.guard = g
		return wholeMilliseconds("restart guard's largest TTL", g.MaxTTL)
	}
}

// watching is what a client knows of quarantines.
type watching struct {
	mu    sync.Mutex
	nodes map[int]quarantine
}

// quarantine is one of a node, told from others of that node by its record. It has lasted at least since a time at
// which the client had the node's answer.
type quarantine struct {
	record string
	since  time.Time
}

func (w *watching) saw(node int, record string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.nodes == nil {
		w.nodes = map[int]quarantine{}
	}
	if w.nodes[node].record != record {
		w.nodes[node] = quarantine{record, now}
	}
}

// confirm names to each node the quarantine that was watched for long enough.
func (w *watching) confirm(all []driver.Conditions, g Guard, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range all {
		if q, ok := w.nodes[i]; ok && (g.TrustNodeClock || now.Sub(q.since) >= g.MaxTTL) {
			all[i].Watched = q.record
		}
	}
}
