package redlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// attempt runs the algorithm of the paper once, under a new random value: if the nodes agree, the lock is granted, and if they
// do not, it is released, also on nodes that did not answer.
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

// ask sends the same command to all nodes at once, or to the gate first. The error is nil once a quorum has done it. It says
// why not as soon as no quorum can, or ctx ends.
func (a *acquisition) ask(ctx context.Context, op driver.Op, ttl time.Duration, start time.Time) (*round, error) {
	r := a.newRound(op, ttl, start)
	r.ballot.Later = quorum.All(len(a.client.nodes))
	defer r.leave() // also if the observer panics
	if op == driver.OpAcquire && a.isGated {
		r.askGate(ctx)
		start = a.client.clock.Now()
	}
	r.sendRest(ctx, start)
	err := r.wait(ctx)
	if err == errBehind {
		r, err = a.raise(ctx, r, ttl)
	}
	r.report(err)
	return r, err
}

// raise proposes a second token to all nodes, under the same value, and waits for the answers.
//
// Only votes for the second token count. A node that voted for the first one votes again, since the key it holds is this
// client's. Such a vote never shortens the key's TTL, as a late one could otherwise do after an extend. A command with the
// first token that arrives after one with the second changes nothing, because its token is not above the counter. So every key
// that counts has its whole TTL from the second round on, and the validity is sound when counted from either start. It is
// counted from the first, as the algorithm has it: one clock reading before the first command, and one after the last vote.
func (a *acquisition) raise(ctx context.Context, first *round, ttl time.Duration) (*round, error) {
	if first.proposal.next > maxToken {
		return first, ErrTokensUsedUp
	}
	a.token = a.client.tokens.propose(a.keys, first.proposal.next)
	a.mu.Lock()
	a.raised = true
	a.mu.Unlock()
	a.observe(observe.Event{Step: observe.TokenRaised, Op: driver.OpAcquire, Token: a.token})
	now := a.client.clock.Now()
	r := a.newRound(driver.OpAcquire, ttl, now)
	r.start = first.start
	for i := range r.commands {
		r.commands[i].Line = first.commands[i].Line
	}
	r.sendTo(first.ballot.Asked, now)
	return r, r.wait(ctx)
}

// draw takes the token of a grant from the client's source, if it has one. The source has as long as a node has to answer.
func (a *acquisition) draw(ctx context.Context) error {
	c := a.client
	if c.source == nil {
		return nil
	}
	within, cancel := c.clock.WithDeadline(ctx, c.clock.Now().Add(c.nodeTimeout))
	defer cancel()
	token, err := c.source.Token(within, a.keys)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled): // the source's own: ctx has not ended
		return fmt.Errorf("%w: the source did not answer in time: %v", ErrNoToken, err)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNoToken, err)
	case token <= 0:
		return fmt.Errorf("%w: the source gave %d", ErrNoToken, token)
	}
	a.token = token
	return nil
}

// term is a TTL with its allowance.
type term struct{ ttl, drift time.Duration }

// validity is how long a grant may be relied on: for so long from the second clock reading, thus until then.
type validity struct {
	left  time.Duration
	until time.Time
}

// validity is the TTL less the time elapsed between the two clock readings and the drift allowance: the lower bound
// MIN_VALIDITY = TTL − (T2−T1) − CLOCK_DRIFT of the Redis documentation. Where it is not positive the grant came too late.
func (t term) validity(first, second time.Time) validity {
	left := t.ttl - second.Sub(first) - t.drift
	return validity{left, second.Add(left)}
}

// grant makes a lease of an attempt that a quorum agreed to. Votes that came while it was being made join it now.
func (a *acquisition) grant(r *round, t term, v validity) *Lease {
	lease := newLease(a, t, v)
	a.observe(observe.Event{Step: observe.Granted, Op: driver.OpAcquire, Validity: v.left, Until: v.until, Token: a.token})
	for i := range r.early.Each {
		a.observe(observe.Event{Step: observe.Joined, Op: driver.OpAcquire, Node: r.outcomes[i]})
	}
	return lease
}

// deny releases what an attempt that failed has left on the nodes.
func (a *acquisition) deny(ctx context.Context, r *round, reason error) *failure {
	err := r.failed(ctx, reason)
	err.Attempts = a.attempt
	a.mu.Lock()
	a.gaveUp = err.Cause != nil
	a.mu.Unlock()
	a.observe(observe.Event{Step: observe.Denied, Op: driver.OpAcquire, Err: err})
	a.releaseAll(false)
	return &failure{err: err, acquisition: a}
}

// call is one call of Lock or TryLock, which makes attempts until one is granted.
type call struct {
	keys  []string
	term  term
	first string   // the value of the first attempt, if it was drawn before: observers know the call by it
	gated bool     // the next attempt asks the gate first
	place *place   // and stands in its line if that says no; nil if it does not
	last  *failure // the last attempt; nil before the first has failed
}

// failure is an attempt that was not granted.
type failure struct {
	err         *Error
	acquisition *acquisition // the last one for which anything was sent; nil if nothing was
}

// attempt is the number of the next attempt.
func (c *call) attempt() int {
	if c.last == nil {
		return 1
	}
	return c.last.acquisition.attempt + 1
}

// next draws the value of the next attempt, and its fencing token.
func (c *call) next(ctx context.Context, client *Client) (*acquisition, error) {
	value, err := c.first, error(nil)
	if c.last != nil || value == "" {
		value, err = client.newValue()
	}
	if err != nil {
		return nil, err
	}
	a := &acquisition{client: client, ctx: valuesOf(ctx), keys: c.keys, name: nameOf(c.keys), value: value, attempt: c.attempt(), call: value, isGated: c.gated, place: c.place}
	if c.last != nil {
		a.call = c.last.acquisition.call
	}
	if client.isFenced() {
		a.token = client.tokens.propose(c.keys, 0)
	}
	a.observe(observe.Event{Step: observe.AttemptStarted, Op: driver.OpAcquire})
	return a, nil
}

// unsent is the failure of an attempt for which nothing was sent. What was sent for the one before stays the last.
func (c *call) unsent(cause error) *failure {
	f := &failure{err: &Error{Op: driver.OpAcquire, Resource: nameOf(c.keys), Attempts: c.attempt(), Cause: cause}}
	if c.last != nil {
		f.acquisition = c.last.acquisition
	}
	return f
}

// with is the failure with another reason and cause. The error that the observer was shown stays as it is.
func (f *failure) with(reason, cause error) *failure {
	err := *f.err
	err.Reason, err.Cause = reason, cause
	return &failure{err: &err, acquisition: f.acquisition}
}

// final gives the call up. Its clean-up goes on by itself.
func (f *failure) final() error {
	if f.acquisition != nil {
		f.acquisition.observe(observe.Event{Step: observe.GaveUp, Op: driver.OpAcquire, Err: f.err})
	}
	return f.err
}
