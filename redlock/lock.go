package redlock

import (
	"context"
	"fmt"
	"time"
)

// Lock acquires the lock on the resource, trying again after a random delay until ctx ends. The lease is good for less
// than ttl, which must be a positive whole number of milliseconds and larger than its drift allowance.
//
// It returns an error that matches [ErrInvalid] for bad arguments, [ErrClosed] if the client was closed before, or an
// [*Error] that matches [ErrNotAcquired] and what ended the call: the context's error, ErrClosed, or the error of the
// source of random bytes. However it ends, what it has set is released on every node that answers; on others it expires.
func (c *Client) Lock(ctx context.Context, resource string, ttl time.Duration) (*Lease, error) {
	defer c.end()
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
			failed = failed.because(c.beforeRetry(ctx, failed))
		}
		if failed.err.Cause != nil {
			return nil, failed.final()
		}
	}
}

// TryLock acquires the lock on the resource if that is possible at once: it makes a single attempt. Otherwise it is as
// [Client.Lock].
func (c *Client) TryLock(ctx context.Context, resource string, ttl time.Duration) (*Lease, error) {
	defer c.end()
	t, err := c.admit(ctx, resource, ttl)
	if err != nil {
		return nil, err
	}
	lease, failed := c.attempt(ctx, resource, t, 1)
	if failed != nil {
		return nil, failed.final()
	}
	return lease, nil
}

// admit counts a call in, which must be counted out with end, and checks its arguments before anything is sent.
func (c *Client) admit(ctx context.Context, resource string, ttl time.Duration) (term, error) {
	closed := c.begin()
	if ctx == nil {
		return term{}, fmt.Errorf("%w: nil context", ErrInvalid)
	}
	if resource == "" {
		return term{}, fmt.Errorf("%w: empty resource", ErrInvalid)
	}
	if c.isConditional() && isReserved(resource) {
		return term{}, fmt.Errorf("%w: resource %q has a name that fencing and the restart guard keep for themselves", ErrInvalid, resource)
	}
	t, err := c.term(ttl)
	if err != nil {
		return term{}, err
	}
	if closed {
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

// sleepUntil returns when the clock reads t, ctx ends, or the client is closed.
func (c *Client) sleepUntil(ctx context.Context, t time.Time) {
	w := c.tasks.NewWaiter()
	c.notify(w)
	defer c.unnotify(w)
	timer := c.clock.AfterFunc(t.Sub(c.clock.Now()), w.Wake)
	defer timer.Stop()
	for ctx.Err() == nil && !c.closed.Load() {
		left := t.Sub(c.clock.Now())
		if left <= 0 {
			return
		}
		timer.Reset(left)
		w.Wait(ctx)
	}
}
