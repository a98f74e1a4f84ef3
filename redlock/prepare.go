package redlock

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// PrepareGuard declares all nodes fit to vote, so that nobody has to wait for the quarantine that the restart guard begins
// with. The caller asserts that no lock exists that was taken or extended less than MaxTTL ago: that the nodes are new, or that
// no client has run for so long. To change MaxTTL, stop the clients for the longer of the two values and call it from one with
// the new value.
//
// Each node is told for its present run only, so a command that arrives after a restart does nothing. The error matches
// ErrInvalid for a client without the guard, and ErrClosed. Otherwise it is an [*Error] that matches [ErrNotPrepared] and lists
// the nodes that were prepared all the same. The call may be repeated.
func (c *Client) PrepareGuard(ctx context.Context) error {
	closed := c.begin()
	defer c.end()
	switch {
	case ctx == nil:
		return fmt.Errorf("%w: nil context", ErrInvalid)
	case !c.isGuarded():
		return fmt.Errorf("%w: the client has no restart guard", ErrInvalid)
	case closed:
		return ErrClosed
	}
	value, err := c.newValue()
	if err != nil {
		return &Error{Op: driver.OpPrepare, Resource: driver.GuardKey, Reason: ErrNotPrepared, Cause: err}
	}
	a := &acquisition{client: c, ctx: context.WithoutCancel(ctx), keys: []string{driver.GuardKey}, name: driver.GuardKey, value: value}
	var all, running quorum.Set = quorum.All(len(c.nodes)), 0
	outcomes, runs := a.prepare(ctx, all, make([]string, len(c.nodes)))
	for i := range outcomes {
		if runs[i] != "" {
			running = running.With(i)
		}
	}
	if running != 0 && ctx.Err() == nil {
		told, _ := a.prepare(ctx, running, runs)
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

// prepare sends an OpPrepare for the runs to some nodes, and waits until all have answered or ctx ends. It returns their
// outcomes, and the runs that they say they are in.
func (a *acquisition) prepare(ctx context.Context, nodes quorum.Set, runs []string) ([]observe.NodeOutcome, []string) {
	var mu sync.Mutex
	found := make([]string, len(runs))
	r := a.newRound(driver.OpPrepare, 0, a.client.clock.Now())
	for i := range r.commands {
		r.commands[i].Conditions = &driver.Conditions{MaxTTL: a.client.maxTTL, Watched: runs[i]}
		r.commands[i].Done = func(cmd *driver.Command, reply driver.Reply) {
			mu.Lock()
			found[i] = reply.Record
			mu.Unlock()
			answered(cmd, reply)
		}
	}
	r.sendTo(nodes, r.start)
	_ = r.wait(ctx) // the outcomes say it all
	mu.Lock()
	defer mu.Unlock()
	outcomes := make([]observe.NodeOutcome, len(runs))
	for _, o := range r.failed(ctx, nil).Nodes {
		outcomes[slices.Index(a.client.names, o.Node)] = o
	}
	return outcomes, slices.Clone(found)
}
