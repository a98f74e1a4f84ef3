package redlock

import (
	"context"
	"fmt"
	"time"
)

// Lock acquires the lock on the resource, trying again after a random delay until ctx ends. The lease is good for less
// than ttl, which must be a positive whole number of milliseconds and larger than its drift allowance.
//
// It returns an error that matches [ErrInvalid] for bad arguments, [ErrClosed], or an [*Error] that matches
// [ErrNotAcquired] and the context's error. However it ends, no key of it stays on a node that can be reached.
func (c *Client) Lock(ctx context.Context, resource string, ttl time.Duration) (*Lease, error) {
	t, err := c.admit(ctx, resource, ttl)
	if err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		lease, failed := c.attempt(ctx, resource, t, n)
		if failed == nil {
			return lease, nil
		}
		if failed.err.Cause == nil {
			failed.err.Cause = c.beforeRetry(ctx, failed)
		}
		if failed.err.Cause != nil {
			return nil, failed.end()
		}
	}
}

// TryLock acquires the lock on the resource if that is possible at once: it makes a single attempt. Otherwise it is as
// [Client.Lock].
func (c *Client) TryLock(ctx context.Context, resource string, ttl time.Duration) (*Lease, error) {
	t, err := c.admit(ctx, resource, ttl)
	if err != nil {
		return nil, err
	}
	lease, failed := c.attempt(ctx, resource, t, 1)
	if failed != nil {
		return nil, failed.end()
	}
	return lease, nil
}

// admit checks the arguments of a call before anything is sent.
func (c *Client) admit(ctx context.Context, resource string, ttl time.Duration) (term, error) {
	if ctx == nil {
		return term{}, fmt.Errorf("%w: nil context", ErrInvalid)
	}
	if resource == "" {
		return term{}, fmt.Errorf("%w: empty resource", ErrInvalid)
	}
	t, err := c.term(ttl)
	if err != nil {
		return term{}, err
	}
	if c.closed.Load() {
		return term{}, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return term{}, &Error{Op: OpAcquire, Resource: resource, Cause: err}
	}
	return t, nil
}

// beforeRetry waits until the random delay has passed and the nodes that answered the acquire have answered the
// release: a client that asks again earlier finds its own old votes in its way. It returns why there can be no retry.
func (c *Client) beforeRetry(ctx context.Context, failed *failure) error {
	delay, err := c.newDelay()
	if err != nil {
		return err
	}
	until := c.clock.Now().Add(delay)
	failed.claim.observe(Event{Step: Retrying, Op: OpAcquire, Delay: delay, Err: failed.err.Reason})
	failed.release.wait(ctx)
	c.sleepUntil(ctx, until)
	if c.closed.Load() {
		return ErrClosed
	}
	return ctx.Err()
}

// sleepUntil returns when the clock reads t or ctx ends.
func (c *Client) sleepUntil(ctx context.Context, t time.Time) {
	left := t.Sub(c.clock.Now())
	if left <= 0 {
		return
	}
	w := c.tasks.NewWaiter()
	timer := c.clock.AfterFunc(left, w.Wake)
	defer timer.Stop()
	for ctx.Err() == nil && c.clock.Now().Before(t) {
		w.Wait(ctx)
	}
}
