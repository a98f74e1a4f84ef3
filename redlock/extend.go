package redlock

import (
	"context"
	"fmt"
	"time"
)

// Extend makes the lease last for ttl from now, less the drift allowance, if a quorum of nodes still holds its key and
// raises the key's TTL before the lease ends. It never creates a key again that is gone, and never shortens the lease.
//
// When it fails the lease and Until are as before: the lease is good until then, and Extend may be tried again. The
// error is of the kind that TryLock gives for bad arguments, or an [*Error] that matches ErrReleased, ErrLost,
// ErrNoQuorum, ErrTooLate or the error of ctx.
func (l *Lease) Extend(ctx context.Context, ttl time.Duration) error {
	if ctx == nil {
		return fmt.Errorf("%w: nil context", ErrInvalid)
	}
	cl := l.claim
	c := cl.client
	t, err := c.term(ttl)
	if err != nil {
		return err
	}
	if c.closed.Load() {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return &Error{Op: OpExtend, Resource: l.Resource(), Cause: err}
	}
	cl.mu.Lock()
	ended := l.state(c.clock.Now())
	cl.mu.Unlock()
	if ended != nil {
		return &Error{Op: OpExtend, Resource: l.Resource(), Reason: ended}
	}

	cl.observe(Event{Step: ExtendStarted, Op: OpExtend})
	r := cl.ask(OpExtend, t.ttl)
	reason := r.wait(ctx)
	if reason != nil {
		cl.observe(Event{Step: QuorumLost, Op: OpExtend, Accepted: r.votes(), Quorum: c.quorum, Err: reason})
		return l.notExtended(ctx, r, reason)
	}
	cl.observe(Event{Step: QuorumReached, Op: OpExtend, Accepted: r.votes(), Quorum: c.quorum})

	now := c.clock.Now()
	validity := Validity(t.ttl, now.Sub(r.start), t.drift)
	until := now.Add(validity)
	cl.observe(Event{Step: ValidityComputed, Op: OpExtend, Validity: validity, Until: until})
	if validity <= 0 {
		return l.notExtended(ctx, r, ErrTooLate)
	}
	until, err = l.prolong(until)
	if err != nil {
		return l.notExtended(ctx, r, err)
	}
	cl.observe(Event{Step: Extended, Op: OpExtend, Validity: until.Sub(now), Until: until})
	return nil
}

// prolong moves the end of a lease that has not ended meanwhile. The keys' TTLs are only ever raised, so that an end
// acknowledged before stays good.
func (l *Lease) prolong(until time.Time) (time.Time, error) {
	cl := l.claim
	cl.mu.Lock()
	defer cl.mu.Unlock()
	now := cl.client.clock.Now()
	if ended := l.state(now); ended != nil {
		return l.until, ended
	}
	if until.After(l.until) {
		l.until = until
		l.timer.Reset(until.Sub(now) - l.lead)
	}
	return l.until, nil
}

func (l *Lease) notExtended(ctx context.Context, r *round, reason error) error {
	err := r.failed(ctx, reason)
	l.claim.observe(Event{Step: NotExtended, Op: OpExtend, Err: err})
	return err
}
