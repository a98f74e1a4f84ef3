package redlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"redlocksim/redlock/driver"
)

// Renewal says how a lease is renewed while work is done under it; see [Client.Hold]. The zero Renewal suits most.
//
// A holder that hangs, and goes on renewing, keeps all others out. So the Redis documentation asks for a limit on the
// number of extensions ("Distributed Locks with Redis", on extending the lock), and there is one unless [Unlimited] is
// asked for. At a limit the work is not stopped at once: its context ends when the lease is about to.
type Renewal struct {
	// Wait is how long Hold waits for the lock at the most; its error matches context.DeadlineExceeded then. Zero: as long as
	// its context lasts. It does not bound the work, nor does it matter to [Lease.Renew].
	Wait time.Duration

	// Period is the time from a grant or renewal to the next one, at most half of the TTL, so that there is time to try
	// again where a renewal fails. Zero means a third of the TTL.
	Period time.Duration

	// Limit is how often the lease is renewed at the most. Zero means 1000. With Unlimited, and MaxTime
	// Unlimited as well, a holder that hangs keeps the lock for ever.
	Limit int

	// MaxTime is how long after the call the lease can still last because of a renewal: none is made that would let it
	// last for longer. Zero means an hour. Unlimited is as for Limit.
	MaxTime time.Duration
}

// Unlimited is for Renewal.Limit and Renewal.MaxTime.
const Unlimited = -1

// The limits of a Renewal unless set otherwise.
const (
	defaultRenewals = 1000
	defaultMaxTime  = time.Hour
)

// of gives the renewal of a lock with that TTL, defaults filled in.
func (r Renewal) of(ttl time.Duration) (Renewal, error) {
	if r.Period == 0 {
		r.Period = ttl / 3
	}
	if r.Limit == 0 {
		r.Limit = defaultRenewals
	}
	if r.MaxTime == 0 {
		r.MaxTime = defaultMaxTime
	}
	switch {
	case r.Wait < 0:
		return r, fmt.Errorf("%w: wait of %v is negative", ErrInvalid, r.Wait)
	case r.Period < 0 || r.Period > ttl/2:
		return r, fmt.Errorf("%w: renewal period %v of TTL %v, must be positive and at most half of it", ErrInvalid, r.Period, ttl)
	case r.Limit < Unlimited:
		return r, fmt.Errorf("%w: limit of %d renewals is negative", ErrInvalid, r.Limit)
	case r.MaxTime < Unlimited:
		return r, fmt.Errorf("%w: longest time of renewals %v is negative", ErrInvalid, r.MaxTime)
	}
	return r, nil
}

// Renew calls work and extends the lease again and again, by the TTL that it was granted with, until work returns. It does
// not release the lease. No renewal is under way when it returns.
//
// The context of work ends with ctx, and with the lease's Context: before the lease is over, by the client's own clock,
// whether or not any node can be reached. A renewal that fails is tried again after a random delay, from the range of
// [WithRetryDelay] or sooner where little is left of the lease, for as long as the lease lasts. There are no more renewals
// after ctx has ended, the lease has ended or been released, a limit of r is reached, or the client was closed. Close
// does not wait for work.
//
// The error is that of work. If the lease was lost before work returned it is joined with an [*Error] that matches
// ErrLost and, where that was why, ErrRenewalLimit, ErrClosed, or the error of the last renewal, which failed. It matches
// ErrInvalid for bad arguments; work was not called then.
func (l *Lease) Renew(ctx context.Context, r Renewal, work func(context.Context) error) error {
	if ctx == nil || work == nil {
		return fmt.Errorf("%w: nil context or nil work", ErrInvalid)
	}
	r, err := r.of(l.ttl)
	if err != nil {
		return err
	}
	working, unbind := l.bind(ctx)
	defer unbind()
	stop := l.renewing(working, r)
	defer stop()
	err = work(working)
	failed := stop()
	if l.state() != ErrLost {
		return err
	}
	lost := failed
	if !errors.Is(failed, ErrLost) {
		lost = &Error{Op: driver.OpExtend, Resource: l.Resource(), Reason: ErrLost, Cause: failed}
	}
	if err == nil {
		return lost
	}
	return errors.Join(err, lost)
}

// renewing starts the renewals, and returns what ends them. That waits until none is under way, and says why the last one
// failed or there were no more; nil if all is well.
func (l *Lease) renewing(ctx context.Context, r Renewal) (stop func() error) {
	c := l.acquisition.client
	ctx, cancel := c.clock.WithCancel(ctx)
	var (
		mu     sync.Mutex
		ended  bool
		failed error
		waiter = c.tasks.NewWaiter()
	)
	c.tasks.Start(func() {
		why := l.renewAll(ctx, r)
		mu.Lock()
		ended, failed = true, why
		mu.Unlock()
		waiter.Wake()
	})
	hasEnded := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return ended
	}
	return func() error {
		cancel(nil)
		for !hasEnded() {
			waiter.Wait(context.Background())
		}
		return failed
	}
}

// renewAll renews until there is a reason not to.
func (l *Lease) renewAll(ctx context.Context, r Renewal) (failed error) {
	c := l.acquisition.client
	now := c.clock.Now()
	end := now.Add(r.MaxTime)
	next := now.Add(min(r.Period, l.Until().Sub(now)/2)) // where the lease is not a new one
	for n := 0; ; {
		if n == r.Limit {
			return ErrRenewalLimit
		}
		c.sleepUntil(ctx, next, nil)
		if ctx.Err() != nil {
			return failed
		}
		if r.MaxTime != Unlimited && c.clock.Now().Add(l.ttl).After(end) {
			return ErrRenewalLimit
		}
		err := l.Extend(ctx, l.ttl)
		if ctx.Err() != nil && err != nil && !c.foundLost(err) {
			return failed // the renewal was cut short: the work or the lease is over
		}
		failed = err
		now := c.clock.Now()
		switch {
		case failed == nil:
			n++
			next = now.Add(r.Period)
		case errors.Is(failed, ErrLost), errors.Is(failed, ErrReleased), errors.Is(failed, ErrClosed):
			return failed
		default:
			next = now.Add(min(c.someDelay(), l.Until().Sub(now)/4))
		}
	}
}

// foundLost reports whether it was the nodes that said that the lease is lost.
func (c *Client) foundLost(err error) bool {
	var e *Error
	if !errors.As(err, &e) || e.Reason != ErrLost {
		return false
	}
	declined := 0
	for _, out := range e.Nodes {
		if out.Outcome == driver.Declined {
			declined++
		}
	}
	return declined > len(c.nodes)-c.quorum
}

// someDelay draws a retry delay. A source of random bytes that fails is no reason to lose a lock, or to hold others up.
func (c *Client) someDelay() time.Duration {
	delay, err := c.newDelay()
	if err != nil {
		return c.retryMin
	}
	return delay
}
