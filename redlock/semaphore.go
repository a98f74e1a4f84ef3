package redlock

import (
	"context"
	"sync"
	"time"

	"redlocksim/internal/looks"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

func init() {
	looks.Lent = func(client any) looks.Client {
		c := client.(*Client)
		return looks.Client{During: c.during, Delay: c.fullDelay, RetryMax: c.longestRetry(), Below: c.below}
	}
}

// during is looks.Client.During.
func (c *Client) during(ctx context.Context, resource string, ttl time.Duration) (during context.Context, end func(), err error) {
	if _, _, err := c.admit(ctx, []string{resource}, ttl); err != nil {
		c.end()
		return nil, nil, err
	}
	during, cancel := c.clock.WithCancel(ctx)
	if c.observer != nil {
		during = looks.Telling(during, func(ctx context.Context, resource string, err error) {
			c.observe(ctx, observe.Event{Step: observe.GaveUp, Op: driver.OpAcquire, Resource: resource, Err: err})
		})
	}
	place := c.wakeOnClose(canceller(cancel))
	if c.closed.Load() { // meanwhile
		cancel(ErrClosed)
	}
	return during, sync.OnceFunc(func() {
		c.dontWakeOnClose(place)
		cancel(nil)
		c.end()
	}), nil
}

// canceller is a Waiter that is woken when the client is closed, and then ends a context.
type canceller context.CancelCauseFunc

// Wait implements driver.Waiter; nobody waits for it.
func (canceller) Wait(context.Context) {}

// Wake implements driver.Waiter.
func (cancel canceller) Wake() { cancel(ErrClosed) }
