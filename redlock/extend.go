package redlock

import (
	"context"
	"errors"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// Extend makes the lease last for ttl from now, less the drift allowance. A quorum of nodes must still have its key and raise
// the key's TTL before the lease ends. Extend never recreates a key, and never shortens the lease.
//
// If it fails, Until stays as it is, and the call can be repeated until the lease's context ends. The error matches ErrInvalid
// for bad arguments and ErrClosed. Otherwise it is an [*Error] that matches ErrReleased, ErrLost, ErrNoQuorum, ErrTooLate or
// the error of ctx. After ErrLost the lease has ended, and its context too: its time is over, or so many nodes lost the key
// that no quorum has it any more, and another client may hold the lock.
func (l *Lease) Extend(ctx context.Context, ttl time.Duration) error {
	a := l.acquisition
	c := a.client
	defer c.end()
	_, t, err := c.admit(ctx, a.keys, ttl)
	if err != nil {
		if e := (*Error)(nil); errors.As(err, &e) {
			e.Op = driver.OpExtend
		}
		return err
	}
	if ended := l.state(); ended != nil {
		return &Error{Op: driver.OpExtend, Resource: l.Resource(), Reason: ended}
	}

	a.observe(observe.Event{Step: observe.ExtendStarted, Op: driver.OpExtend})
	r, v, err := a.agree(ctx, driver.OpExtend, t)
	if err == nil {
		err = l.state()
	}
	if err != nil {
		return l.notExtended(ctx, r, err)
	}
	until, ended := l.prolong(v.until, min(c.lead(t.ttl), v.left/2))
	if ended != nil {
		return l.notExtended(ctx, r, ended)
	}
	a.observe(observe.Event{Step: observe.Extended, Op: driver.OpExtend, Validity: v.left + until.Sub(v.until), Until: until})
	return nil
}

// prolong moves the end of the lease, never to an earlier time: the keys' TTLs only ever rise, so an end that was promised
// stays good. The timer finds out by itself. If the lease has ended it moves nothing, and says why.
func (l *Lease) prolong(until time.Time, lead time.Duration) (time.Time, error) {
	l.acquisition.mu.Lock()
	defer l.acquisition.mu.Unlock()
	if l.ended == nil && until.After(l.until) {
		l.until, l.lead = until, lead
	}
	return l.until, l.ended
}

func (l *Lease) notExtended(ctx context.Context, r *round, reason error) error {
	if ended := l.state(); ended != nil {
		reason = ended
	}
	err := r.failed(ctx, reason)
	l.acquisition.observe(observe.Event{Step: observe.NotExtended, Op: driver.OpExtend, Err: err})
	if reason == ErrLost {
		l.lose()
	}
	return err
}
