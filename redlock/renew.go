package redlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"redlocksim/redlock/driver"
)

// Renewal sets how a lease is renewed while work runs under it; see [Client.Hold]. The zero Renewal suits most programs.
//
// A holder that hangs but goes on renewing keeps all others out. The Redis documentation therefore asks for a limit on
// extensions, and there is one unless you ask for [Unlimited]. At a limit the lease is no longer renewed, and the work's
// context ends shortly before the lease does.
type Renewal struct {
	// Wait is how long Hold waits for the lock at most; its error then matches context.DeadlineExceeded. Zero means as long as
	// its context lasts. It does not limit the work, and [Lease.Renew] ignores it.
	Wait time.Duration

	// Period is the time between renewals, at most half of the TTL, so that a failed one can be repeated. Zero means a third of
	// the TTL. A renewal comes sooner where half of the time is over until the lease's context would end; see [WithLossLead].
	Period time.Duration

	// Jitter is how much sooner than after a Period a renewal may come: a random part of it, so that holders which began
	// together do not renew together. At most the Period; zero means that all renewals come on time.
	Jitter time.Duration

	// Limit is the largest number of renewals. Zero means 1000. If Limit and MaxTime are both Unlimited, a holder that hangs
	// keeps the lock forever.
	Limit int

	// MaxTime is how long renewals can keep the lease alive, counted from the call: a renewal that would exceed it is not made.
	// Zero means an hour.
	MaxTime time.Duration
}

// Unlimited is a value for Renewal.Limit and Renewal.MaxTime.
const Unlimited = -1

// The limits of a Renewal unless set otherwise.
const (
	defaultRenewals = 1000
	defaultMaxTime  = time.Hour
)

// Check says whether leases of that TTL can be renewed so. The error matches ErrInvalid, and Hold and Renew return it.
func (r Renewal) Check(ttl time.Duration) error {
	_, err := r.of(ttl)
	return err
}

// of is the renewal of a lock with that TTL, with the defaults filled in.
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
	case r.Jitter < 0 || r.Jitter > r.Period:
		return r, fmt.Errorf("%w: renewal jitter %v of period %v, must not be negative nor more than the period", ErrInvalid, r.Jitter, r.Period)
	case r.Limit < Unlimited:
		return r, fmt.Errorf("%w: limit of %d renewals is negative", ErrInvalid, r.Limit)
	case r.MaxTime < Unlimited:
		return r, fmt.Errorf("%w: longest time of renewals %v is negative", ErrInvalid, r.MaxTime)
	}
	return r, nil
}

// Renew calls work and extends the lease, by the TTL it was granted with, until work returns. It does not release the lease. No
// renewal is under way when it returns.
//
// The context of work ends with ctx and with the lease's Context. A failed renewal is repeated after a random delay from the
// range of [WithRetryDelay], without it from 50 to 150 ms, or sooner if the lease is about to end. Renewals stop when ctx ends,
// the lease ends or is released, r sets a limit that is reached, or the client is closed. Close does not wait for work.
//
// The error is that of work. If the lease was lost before work returned, it is joined with an [*Error] that matches ErrLost and
// the reason: ErrRenewalLimit, ErrClosed, or the error of the last renewal. It matches ErrInvalid for bad arguments, and work
// is not called then.
func (l *Lease) Renew(ctx context.Context, r Renewal, work func(context.Context) error) error {
	if ctx == nil || work == nil {
		return fmt.Errorf("%w: nil context or nil work", ErrInvalid)
	}
	r, err := r.of(l.ttl)
	if err != nil {
		return err
	}
	working, unbind := l.contexts.bind(ctx, l.acquisition.client.clock)
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

// Hold is [Client.Hold] with a lease that was acquired before: it calls work, renews the lease as [Lease.Renew] does until work
// returns, and releases it, even if work panics. It ignores Renewal.Wait. If it returns ErrInvalid for bad arguments, the lease
// is released, too.
func (l *Lease) Hold(ctx context.Context, r Renewal, work func(context.Context) error) (err error) {
	releasing := context.Background()
	if ctx != nil {
		releasing = context.WithoutCancel(ctx)
	}
	defer func() {
		released := l.Unlock(releasing)
		switch {
		case released == nil, errors.Is(released, ErrReleased), errors.Is(released, ErrLost) && errors.Is(err, ErrLost):
		case err == nil:
			err = released
		default:
			err = errors.Join(err, released)
		}
	}()
	return l.Renew(ctx, r, work)
}

// renewing starts the renewals and returns what stops them: it waits until none is under way, and returns why the last one
// failed or why there were no more.
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
	next := now.Add(l.untilNext(r, now))
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
			next = now.Add(l.untilNext(r, now))
		case errors.Is(failed, ErrLost), errors.Is(failed, ErrReleased), errors.Is(failed, ErrClosed):
			return failed
		default:
			next = now.Add(min(c.someDelay(), l.Until().Sub(now)/4))
		}
	}
}

// untilNext is the time until the next renewal: a period, or half of what is left until the lease's context ends. That is
// sooner if the lease was taken a while ago, or if WithLossLead leaves little of it.
func (l *Lease) untilNext(r Renewal, now time.Time) time.Duration {
	return min(l.acquisition.client.periodOf(r), l.contextEnds().Sub(now)/2)
}

// foundLost reports whether the nodes said that the lease is lost.
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
