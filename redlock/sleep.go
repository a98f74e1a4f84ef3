package redlock

import (
	"context"
	"time"

	"redlocksim/redlock/driver"
)

// sleepUntil returns when the clock reads t, ctx ends, or the client is closed. With a subscription it returns earlier if a
// release is published: a random part of the wake-up's spread later. It gives the time until which it slept, or would have.
func (c *Client) sleepUntil(ctx context.Context, t time.Time, news *subscription) time.Time {
	var w driver.Waiter
	if news != nil {
		w = news.waiter
	} else {
		w = c.tasks.NewWaiter()
	}
	defer c.dontWakeOnClose(c.wakeOnClose(w))
	timer := c.clock.AfterFunc(t.Sub(c.clock.Now()), w.Wake)
	defer timer.Stop()
	for woken := false; ctx.Err() == nil && !c.closed.Load(); {
		if !woken && news.take() {
			woken = true
			if soon := c.clock.Now().Add(c.newSpread()); soon.Before(t) {
				t = soon
			}
		}
		left := t.Sub(c.clock.Now())
		if left <= 0 {
			break
		}
		timer.Reset(left)
		w.Wait(ctx)
	}
	return t
}

// whyEnded is why a call that waits must end; nil if it need not.
func (c *Client) whyEnded(ctx context.Context) error {
	if c.closed.Load() {
		return ErrClosed
	}
	return ctx.Err()
}
