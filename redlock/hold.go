package redlock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Hold does work under the lock on the resource: it acquires the lock as [Client.Lock] does, calls work, renews the lease
// until work returns, and releases it. It waits for the lock until ctx ends or Renewal.Wait is over; the context of work
// ends with ctx, but not with Renewal.Wait. It renews as [Lease.Renew] does, and has no renewal under way when it begins to
// release. The release does not depend on ctx, and happens also if work panics.
//
// The error is that of Lock, and work was not called then; or that of work, joined with a loss of the lease during the
// work as Renew has it and with that of the release, which is as for [Lease.Unlock]. It is nil if all went well. That work
// itself released the lease is no error.
func (c *Client) Hold(ctx context.Context, resource string, ttl time.Duration, r Renewal, work func(context.Context, *Lease) error) (err error) {
	if ctx == nil || work == nil {
		return fmt.Errorf("%w: nil context or nil work", ErrInvalid)
	}
	if _, err := r.of(ttl); err != nil {
		return err
	}
	lease, err := c.lockWithin(ctx, r.Wait, resource, ttl)
	if err != nil {
		return err
	}
	defer func() {
		released := lease.Unlock(context.WithoutCancel(ctx))
		switch {
		case released == nil, errors.Is(released, ErrReleased), errors.Is(released, ErrLost) && errors.Is(err, ErrLost):
		case err == nil:
			err = released
		default:
			err = errors.Join(err, released)
		}
	}()
	return lease.Renew(ctx, r, func(ctx context.Context) error { return work(ctx, lease) })
}

// lockWithin is Lock, for at most so long; zero: as long as ctx lasts.
func (c *Client) lockWithin(ctx context.Context, wait time.Duration, resource string, ttl time.Duration) (*Lease, error) {
	if wait != 0 {
		until, cancel := c.clock.WithDeadline(ctx, c.clock.Now().Add(wait))
		defer cancel()
		ctx = until
	}
	return c.Lock(ctx, resource, ttl)
}
