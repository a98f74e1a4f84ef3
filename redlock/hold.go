package redlock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Hold does work under the lock. It acquires the lock as [Client.Lock] does, calls work, renews the lease as [Lease.Renew] does
// until work returns, and releases it. It waits for the lock until ctx ends or Renewal.Wait is over; the context of work ends
// with ctx, but not with Renewal.Wait. Hold releases the lock whatever happens to ctx, even if work panics, and no renewal is
// then under way.
//
// The error is that of Lock if work was not called. Otherwise it is the error of work, joined with the loss of the lease, as
// Renew reports it, and with the error of the release, as [Lease.Unlock] reports it. If work itself released the lease, that is
// no error.
func (c *Client) Hold(ctx context.Context, resource string, ttl time.Duration, r Renewal, work func(context.Context, *Lease) error) error {
	if ctx == nil || work == nil {
		return fmt.Errorf("%w: nil context or nil work", ErrInvalid)
	}
	if err := r.Check(ttl); err != nil {
		return err
	}
	lease, err := c.lockWithin(ctx, r.Wait, resource, ttl)
	if err != nil {
		return err
	}
	return lease.Hold(ctx, r, func(ctx context.Context) error { return work(ctx, lease) })
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

// lockWithin is Lock for at most that long; zero means as long as ctx lasts.
func (c *Client) lockWithin(ctx context.Context, wait time.Duration, resource string, ttl time.Duration) (*Lease, error) {
	if wait != 0 {
		until, cancel := c.clock.WithDeadline(ctx, c.clock.Now().Add(wait))
		defer cancel()
		ctx = until
	}
	return c.Lock(ctx, resource, ttl)
}
