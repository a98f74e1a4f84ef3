package redlock

import (
	"context"
	"fmt"
	"slices"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// Lease is a lock that was granted. It ends at [Lease.Until] unless it is extended or released before. It is safe for
// concurrent use.
type Lease struct {
	claim  *claim
	ttl    time.Duration // that it was granted with
	ctx    leaseContext
	cancel context.CancelCauseFunc

	// guarded by the claim's lock
	until time.Time
	lead  time.Duration // how long before until the context ends
	ended error         // ErrLost or ErrReleased; nil while the lease lives
	timer driver.Timer
	bound []*bound

	queue *queue // that it holds up; nil once it does not. The queues' lock guards it
}

// bound is a context that ends with the lease and does not belong to it.
type bound struct{ cancel context.CancelCauseFunc }

func newLease(cl *claim, t term, validity time.Duration, until time.Time) *Lease {
	c := cl.client
	l := &Lease{claim: cl, ttl: t.ttl, lead: min(c.lead(t.ttl), validity/2), until: until}
	l.ctx = leaseContext{lease: l, above: cl.ctx}
	l.ctx.Context, l.cancel = c.clock.WithCancel(cl.ctx)
	l.enter()
	cl.mu.Lock()
	cl.granted = true
	l.timer = c.clock.AfterFunc(until.Sub(c.clock.Now())-l.lead, l.expire)
	cl.mu.Unlock()
	return l
}

// lead is how long before its end a lease's context is cancelled.
func (c *Client) lead(ttl time.Duration) time.Duration {
	if c.lossLead > 0 {
		return c.lossLead
	}
	return min(max(ttl/20, time.Millisecond), time.Second)
}

// Resource is the name of what is locked; several resources are in one text, with commas, as in errors and events.
func (l *Lease) Resource() string { return l.claim.resource() }

// Resources are the names of what is locked, in ascending order.
func (l *Lease) Resources() []string { return slices.Clone(l.claim.keys) }

// Value is the random value that stands for this acquisition on the nodes. It is unique, but has no order: the fencing
// token is Token.
func (l *Lease) Value() string { return l.claim.value }

// Token is the fencing token of this grant; false if the client was made without [WithFencing].
func (l *Lease) Token() (int64, bool) { return l.claim.token, l.claim.token != 0 }

// Until is when the lease ends, as a reading of the client's Clock: with the system clock a time with a monotonic
// reading, so that time.Until works across steps of the wall clock. A failed Extend does not change it.
func (l *Lease) Until() time.Time {
	l.claim.mu.Lock()
	defer l.claim.mu.Unlock()
	return l.until
}

// Context is done when the lease is released or about to end: it is cancelled before Until (see [WithLossLead]), by
// the client's own clock, whether or not any node can be reached. context.Cause tells ErrReleased from ErrLost. It
// carries the values of the context that Lock was called with, but does not end with it.
func (l *Lease) Context() context.Context { return &l.ctx }

// leaseContext is one that ends with the lease, and with the context above it.
type leaseContext struct {
	context.Context
	lease *Lease
	above context.Context
}

type leaseContextKey struct{}

// Value gives those of the context, and the leaseContext itself to those derived from it.
func (c *leaseContext) Value(key any) any {
	if key == (leaseContextKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// outlasting is ctx without the end of the lease, which the release brings about itself: for a context derived from those of
// the lease, what the outermost of them was derived from, with the deadline of ctx. One that has ended for another reason
// stays as it is.
func (l *Lease) outlasting(ctx context.Context) (context.Context, context.CancelFunc) {
	var above context.Context
	for at := ctx; ; {
		of, _ := at.Value(leaseContextKey{}).(*leaseContext)
		if of == nil {
			break
		}
		at = of.above
		if of.lease == l { // not that of a lock which was taken under this one, or under which it was taken
			above = at
		}
	}
	why := context.Cause(ctx)
	if above == nil || why != nil && why != ErrLost && why != ErrReleased {
		return ctx, func() {}
	}
	if deadline, ok := ctx.Deadline(); ok {
		return l.claim.client.clock.WithDeadline(above, deadline)
	}
	return above, func() {}
}

// bind derives a context that ends with ctx, with the lease, and when it is unbound.
func (l *Lease) bind(ctx context.Context) (context.Context, func()) {
	cl := l.claim
	above := ctx
	ctx, cancel := cl.client.clock.WithCancel(above)
	b := &bound{cancel}
	cl.mu.Lock()
	l.bound = append(l.bound, b)
	ended := l.ended
	cl.mu.Unlock()
	if ended != nil {
		cancel(ended)
	}
	return &leaseContext{Context: ctx, lease: l, above: above}, func() {
		cl.mu.Lock()
		l.bound = slices.DeleteFunc(l.bound, func(o *bound) bool { return o == b })
		cl.mu.Unlock()
		cancel(nil)
	}
}

// tell ends the lease's context and those bound to it.
func (l *Lease) tell(why error) {
	l.claim.mu.Lock()
	all := slices.Clone(l.bound)
	l.claim.mu.Unlock()
	l.cancel(why)
	for _, b := range all {
		b.cancel(why)
	}
}

// expire ends the lease when its time is nearly over; one that was extended meanwhile gets the rest of its time.
func (l *Lease) expire() {
	cl := l.claim
	cl.mu.Lock()
	if left := l.until.Sub(cl.client.clock.Now()) - l.lead; l.ended == nil && left > 0 {
		l.timer.Reset(left)
		cl.mu.Unlock()
		return
	}
	cl.mu.Unlock()
	l.lose()
}

// lose ends a lease that has not ended, and tells the holder.
func (l *Lease) lose() {
	cl := l.claim
	cl.mu.Lock()
	if l.ended != nil {
		cl.mu.Unlock()
		return
	}
	l.ended = ErrLost
	l.timer.Stop()
	until := l.until
	cl.mu.Unlock()
	l.tell(ErrLost)
	l.vacate()
	cl.observe(observe.Event{Step: observe.Lost, Until: until})
}

// state says whether the lease has ended, and why. It also ends one whose time is over while its timer is late, as after
// a pause of the process.
func (l *Lease) state() error {
	cl := l.claim
	now := cl.client.clock.Now()
	cl.mu.Lock()
	ended := l.ended
	over := ended == nil && !now.Before(l.until)
	cl.mu.Unlock()
	if over {
		l.lose()
		return ErrLost
	}
	return ended
}

// Unlock releases the lock on all nodes and cancels the lease's context first. It returns nil once a quorum of nodes has
// deleted the key. Otherwise the error is ErrReleased on a second call, or an [*Error] that matches ErrLost (the lease
// ended before this call, or so many nodes had lost the key that others may have been granted the lock), ErrNoQuorum
// (too few nodes answered, their keys expire), or the error of ctx. The release is sent whatever ctx says, and goes on
// when ctx ends. It works after the client is closed.
//
// ctx may be the lease's own Context, that of the work of [Client.Hold] or [Lease.Renew], or derived from one of them. That
// it ends with the lease does not count then: the answers are waited for as long as its deadline and the context above allow.
func (l *Lease) Unlock(ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("%w: nil context", ErrInvalid)
	}
	cl := l.claim
	cl.client.begin()
	defer cl.client.end()
	ctx, cancel := l.outlasting(ctx)
	defer cancel()
	before := l.state()
	cl.mu.Lock()
	if l.ended == ErrReleased {
		cl.mu.Unlock()
		return &Error{Op: driver.OpRelease, Resource: l.Resource(), Reason: ErrReleased}
	}
	if l.ended != nil {
		before = l.ended
	}
	l.ended = ErrReleased
	l.timer.Stop()
	cl.mu.Unlock()

	r, reason := l.release(ctx)
	var err error
	if reason != nil || before != nil {
		failed := r.failed(ctx, reason)
		if before != nil {
			failed.Reason = before
		}
		err = failed
	}
	cl.observe(observe.Event{Step: observe.Released, Op: driver.OpRelease, Accepted: r.votes, Quorum: cl.client.quorum, Err: err})
	return err
}

// release sends the release of a lease that has just ended, waits for the answers, and lets the next caller have its turn, also
// where the observer panics.
func (l *Lease) release(ctx context.Context) (r *round, reason error) {
	defer l.vacate()
	l.tell(ErrReleased)
	l.claim.observe(observe.Event{Step: observe.ReleaseStarted, Op: driver.OpRelease})
	r = l.claim.releaseAll()
	return r, r.wait(ctx)
}
