package redlock

import (
	"sync"
	"time"

	"redlocksim/redlock/driver"
)

// Guard keeps nodes that may have forgotten votes from voting until no lock can depend on those: the delayed restart of the
// Redlock documentation, enforced by the nodes themselves with every acquire, without another round trip.
//
// A node keeps a record of the run (the run id of INFO server) in which it was found fit to vote. If it is asked for a vote
// without such a record, or with that of another run, it has restarted or was emptied. It is then in quarantine and does not
// vote. The quarantine ends for all clients when the node's clock and one client's clock agree that MaxTTL has passed: the
// client must have watched this very quarantine for that long. So a step of the node's clock does not end it early (a step back
// makes it longer), and neither does a client that is mistaken. A client that lives for less than MaxTTL cannot end a
// quarantine; another client can, or [Client.PrepareGuard].
//
// A lock that depends on a vote of the earlier run was granted before that run ended, so before anybody watched the quarantine,
// and is valid for at most MaxTTL less the drift allowance by its holder's clock. So the guard is safe while the drift
// allowance also covers the clock of the client that watches.
//
// A new node is in quarantine, too; see PrepareGuard. Extends need no guard, since only nodes that have the key count. The
// guard does not detect: clients without it; keys that were evicted or deleted one by one (run nodes with maxmemory-policy
// noeviction); a machine restored from a snapshot, whose server continues with the same run id; an old master that runs beside
// its promoted replica. A replica rejects the write of the record, so it has no vote. The nodes' users must be allowed INFO and
// TIME.
type Guard struct {
	// MaxTTL is the largest TTL of any lock, a whole number of milliseconds. A larger TTL is rejected. All clients must have
	// the same: a node with a record of another value has no vote, and the error matches [ErrMaxTTL].
	MaxTTL time.Duration

	// TrustNodeClock lets the node's clock alone end a quarantine. It is UNSAFE, since a step forward ends it early. It exists
	// to show why, in simulations.
	TrustNodeClock bool
}

// WithRestartGuard keeps restarted nodes from voting until the locks they may have forgotten have ended. Without it such a node
// votes at once, and must be kept out by other means.
func WithRestartGuard(g Guard) Option {
	return func(s *settings) error {
		s.maxTTL, s.trustsNodes = g.MaxTTL, g.TrustNodeClock
		return wholeMilliseconds("restart guard's largest TTL", g.MaxTTL)
	}
}

// watching is what a client knows of the nodes' quarantines.
type watching struct {
	mu    sync.Mutex
	nodes map[int]quarantine
}

// quarantine has lasted at least since the client had an answer with its record, which no other quarantine of the node has.
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

// ended forgets a quarantine of a node which is over. A later one has another record, and stays.
func (w *watching) ended(node int, record string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.nodes[node].record == record {
		delete(w.nodes, node)
	}
}

// confirm names to each node the quarantine that the client has watched for long enough.
func (w *watching) confirm(all []driver.Conditions, s *settings, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range all {
		if q, ok := w.nodes[i]; ok && (s.trustsNodes || now.Sub(q.since) >= s.maxTTL) {
			all[i].Watched = q.record
		}
	}
}

// conditions are what an acquire asks of each node beyond free keys.
func (c *Client) conditions(token int64, now time.Time) []driver.Conditions {
	all := make([]driver.Conditions, len(c.nodes))
	for i := range all {
		all[i] = driver.Conditions{Token: token, CounterTTL: c.counterTTL, MaxTTL: c.maxTTL}
	}
	c.watching.confirm(all, &c.settings, now)
	return all
}
