package redlock

import (
	"context"
	"fmt"
	"time"
)

// Lease is a lock that was granted. It ends at [Lease.Until] unless it is extended or released before. It is safe for
// concurrent use.
type Lease struct {
	claim  *claim
	lead   time.Duration
	ctx    context.Context
	cancel context.CancelCauseFunc

	// guarded by the claim's lock
	until time.Time
	ended error // ErrLost or ErrReleased; nil while the lease lives
	timer Timer
}

func newLease(cl *claim, t term, validity time.Duration, until time.Time) *Lease {
	c := cl.client
	l := &Lease{claim: cl, lead: min(c.lead(t.ttl), validity/2), until: until}
	l.ctx, l.cancel = c.clock.WithCancel(cl.ctx)
	cl.mu.Lock()
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

// Resource is the name of what is locked.
func (l *Lease) Resource() string { return l.claim.resource() }

// Value is the random value that stands for this acquisition on the nodes. It is unique, but has no order: it is no
// fencing token.
func (l *Lease) Value() string { return l.claim.value }

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
func (l *Lease) Context() context.Context { return l.ctx }

// expire ends the lease when its time is nearly over.
func (l *Lease) expire() {
	cl := l.claim
	cl.mu.Lock()
	left := l.until.Sub(cl.client.clock.Now()) - l.lead
	if l.ended != nil || left > 0 {
		// Released meanwhile, or extended after this timer had fired.
		if l.ended == nil {
			l.timer.Reset(left)
		}
		cl.mu.Unlock()
		return
	}
	l.ended = ErrLost
	until := l.until
	cl.mu.Unlock()
	l.cancel(ErrLost)
	cl.observe(Event{Step: Lost, Until: until})
}

// state says whether the lease has ended, and why. It also ends one whose time is over while its timer has not run yet,
// as after a pause of the process. The claim is locked.
func (l *Lease) state(now time.Time) error {
	if l.ended == nil && !now.Before(l.until) {
		return ErrLost
	}
	return l.ended
}

// Unlock releases the lock on all nodes and cancels the lease's context first. It returns nil once a quorum of nodes has
// deleted the key. Otherwise the error is ErrReleased on a second call, or an [*Error] that matches ErrLost (the lease
// ended before this call, or so many nodes had lost the key that others may have been granted the lock), ErrNoQuorum
// (too few nodes answered, their keys expire), or the error of ctx. The release is sent whatever ctx says, and goes on
// when ctx ends.
func (l *Lease) Unlock(ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("%w: nil context", ErrInvalid)
	}
	cl := l.claim
	cl.mu.Lock()
	before := l.state(cl.client.clock.Now())
	if before == ErrReleased {
		cl.mu.Unlock()
		return &Error{Op: OpRelease, Resource: l.Resource(), Reason: ErrReleased}
	}
	l.ended = ErrReleased
	l.timer.Stop()
	cl.mu.Unlock()

	cl.observe(Event{Step: ReleaseStarted, Op: OpRelease})
	l.cancel(ErrReleased)
	r := cl.releaseAll(nil)
	reason := r.wait(ctx)
	if reason == nil {
		reason = before
	}
	var err error
	if reason != nil {
		err = r.failed(ctx, reason)
	}
	cl.observe(Event{Step: Released, Op: OpRelease, Accepted: r.votes(), Quorum: cl.client.quorum, Err: err})
	return err
}
