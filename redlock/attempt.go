package redlock

import (
	"context"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// attempt runs the algorithm of the paper once, under a new random value: if the nodes agree, the lock is granted, and if they
// do not, it is released on all of them, also on those that did not answer.
func (c *Client) attempt(ctx context.Context, of *call) (*Lease, *failure) {
	a, err := of.next(ctx, c)
	if err != nil {
		return nil, of.unsent(err)
	}
	r, v, err := a.agree(ctx, driver.OpAcquire, of.term)
	if err != nil {
		return nil, a.deny(ctx, r, err)
	}
	return a.grant(r, of.term, v), nil
}

// agree reads the clock, asks all nodes at once, waits for a quorum, and reads the clock again. What is left of the TTL then,
// less the drift allowance, is the validity; if nothing is, the quorum came too late. An extend is agreed on in the same way.
func (a *acquisition) agree(ctx context.Context, op driver.Op, t term) (*round, validity, error) {
	clock := a.client.clock
	start := clock.Now()
	r, err := a.ask(ctx, op, t.ttl, start)
	if err == nil && op == driver.OpAcquire {
		err = a.draw(ctx)
	}
	if err != nil {
		return r, validity{}, err
	}
	v := t.validity(start, clock.Now())
	a.observe(observe.Event{Step: observe.ValidityComputed, Op: op, Validity: v.left, Until: v.until})
	if v.left <= 0 {
		err = ErrTooLate
	}
	return r, v, err
}

// grant makes a lease of an attempt that a quorum agreed to. Votes that came while it was being made join it now.
func (a *acquisition) grant(r *round, t term, v validity) *Lease {
	lease := newLease(a, t, v)
	a.observe(observe.Event{Step: observe.Granted, Op: driver.OpAcquire, Validity: v.left, Until: v.until, Token: a.token})
	for i := range r.early.Each {
		a.follow(join, i, r.outcomes[i])
	}
	return lease
}

// deny releases what an attempt that failed has left on the nodes.
func (a *acquisition) deny(ctx context.Context, r *round, reason error) *failure {
	err := r.failed(ctx, reason)
	err.Attempts = a.attempt
	a.observe(observe.Event{Step: observe.Denied, Op: driver.OpAcquire, Err: err})
	return &failure{err: err, acquisition: a, release: a.releaseAfter(r)}
}
