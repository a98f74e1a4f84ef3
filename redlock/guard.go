package redlock

import (
	"context"
	"fmt"
	"sync"
	"time"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
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

// isConditional: acquires of this client are not plain ones.
func (c *Client) isConditional() bool { return c.counterTTL != 0 || c.guard.MaxTTL != 0 }

// conditions are those of an acquire, for each node.
func (c *Client) conditions(token int64, now time.Time) []driver.Conditions {
	all := make([]driver.Conditions, len(c.nodes))
	for i := range all {
		all[i] = driver.Conditions{Token: token, CounterTTL: c.counterTTL, MaxTTL: c.guard.MaxTTL}
	}
	c.watching.vouch(all, c.guard, now)
	return all
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

// vouch names to each node the quarantine that was watched for long enough.
func (w *watching) vouch(all []driver.Conditions, g Guard, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range all {
		if q, ok := w.nodes[i]; ok && (g.TrustNodeClock || now.Sub(q.since) >= g.MaxTTL) {
			all[i].Watched = q.record
		}
	}
}

// PrepareGuard declares all nodes fit to vote as they are, instead of waiting for the quarantine that the restart guard
// begins with. The caller asserts that no lock exists that was taken or extended less than MaxTTL ago: that the nodes
// are new, or that no client has run for so long. It is also the way to change MaxTTL, after the longer of the two.
//
// Each node is told for its present run only, so that a command which arrives after a restart does nothing. The error
// matches ErrInvalid for a client without the guard, ErrClosed, or is an [*Error] that matches [ErrNotPrepared] and says
// which nodes were prepared all the same; it may be called again.
func (c *Client) PrepareGuard(ctx context.Context) error {
	closed := c.begin()
	defer c.end()
	switch {
	case ctx == nil:
		return fmt.Errorf("%w: nil context", ErrInvalid)
	case c.guard.MaxTTL == 0:
		return fmt.Errorf("%w: the client has no restart guard", ErrInvalid)
	case closed:
		return ErrClosed
	}
	value, err := c.newValue()
	if err != nil {
		return &Error{Op: driver.OpPrepare, Resource: driver.GuardKey, Reason: ErrNotPrepared, Cause: err}
	}
	cl := &claim{client: c, ctx: context.WithoutCancel(ctx), keys: []string{driver.GuardKey}, name: driver.GuardKey, value: value}
	var all, running quorum.Set = quorum.All(len(c.nodes)), 0
	outcomes, runs := cl.prepare(ctx, all, make([]string, len(c.nodes)))
	for i := range outcomes {
		if runs[i] != "" {
			running = running.With(i)
		}
	}
	if running != 0 && ctx.Err() == nil {
		told, _ := cl.prepare(ctx, running, runs)
		for i := range running.Each {
			outcomes[i] = told[i]
		}
	}
	for _, out := range outcomes {
		if out.Outcome != driver.Accepted {
			return &Error{Op: driver.OpPrepare, Resource: driver.GuardKey, Reason: ErrNotPrepared, Cause: ctx.Err(), Nodes: outcomes, NodeTimeout: c.nodeTimeout}
		}
	}
	return nil
}

// prepare sends an OpPrepare for the runs to some nodes and waits until all have answered, or ctx ends. It gives what
// came of it, and the runs that the nodes are in, as far as they said so.
func (cl *claim) prepare(ctx context.Context, nodes quorum.Set, runs []string) ([]observe.NodeOutcome, []string) {
	var mu sync.Mutex
	found := make([]string, len(runs))
	r := cl.newRound(driver.OpPrepare, 0, nodes)
	r.cleanUp, r.awaited = true, nodes
	for i := range r.commands {
		r.commands[i].Conditions = &driver.Conditions{MaxTTL: cl.client.guard.MaxTTL, Watched: runs[i]}
		r.commands[i].Done = func(cmd *driver.Command, reply driver.Reply) {
			mu.Lock()
			found[i] = reply.Record
			mu.Unlock()
			answered(cmd, reply)
		}
	}
	r.send()
	_ = r.wait(ctx) // the outcomes say it all
	mu.Lock()
	defer mu.Unlock()
	return r.failed(ctx, nil).Nodes, append([]string(nil), found...)
}
