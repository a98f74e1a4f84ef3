package redlock

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"redlocksim/redlock/driver"
)

// WithWakeUp wakes waiting calls of Lock when the lock is released, so that they try again at once instead of at the
// end of their retry delay. Releases of this client publish a message on every node (Redis' PUBLISH, on
// [driver.WakeChannel]) in the same round trip, and waiting calls of this client subscribe to it. A lost message, or a
// holder without the option, costs only the rest of the delay.
//
// All waiting clients are notified at the same moment. Each therefore waits for a random part of the spread first,
// which should be long enough for several attempts one after the other: 10 ms suit round trips of about a millisecond.
// It should be short compared with the time for which the lock is held: the retry delay of those who have waited for
// less is shorter than the spread, and they ask when they would have asked anyway.
//
// Once a call was refused because another has the lock (ErrTaken), callers of its resources listen on every node until
// the last of them returns. Until then, and so for as long as they find no quorum (ErrNoQuorum), they poll. The nodes
// must be Listeners, and their users allowed to publish and subscribe on those channels: where they are not, and while
// listening fails for another reason, calls poll, and the outcomes of the node carry an error that matches
// [driver.ErrWakeUp]. Nodes of package goredis use one more connection per server for this, and none while nobody
// waits.
func WithWakeUp(spread time.Duration) Option {
	return func(s *settings) error {
		if spread <= 0 {
			return fmt.Errorf("%w: wake-up spread %v is not positive", ErrInvalid, spread)
		}
		for _, n := range s.nodes {
			if _, ok := n.(driver.Listener); !ok {
				return fmt.Errorf("%w: node %q is no Listener, which the wake-up needs", ErrInvalid, n.Name())
			}
		}
		s.wakeSpread = spread
		return nil
	}
}

// subscription notifies those of a queue who wait of releases by other clients. A nil one never does.
type subscription struct {
	waiter   driver.Waiter
	notified atomic.Bool
	stops    []func() // one for each key and node
}

// subscribe notifies of releases of the keys, from some time soon on.
func (c *Client) subscribe(keys []string) *subscription {
	s := &subscription{waiter: c.tasks.NewWaiter()}
	heard := func() { s.notified.Store(true); s.waiter.Wake() }
	for _, key := range keys {
		for _, n := range c.nodes {
			s.stops = append(s.stops, n.(driver.Listener).Listen(driver.WakeChannel(key), heard))
		}
	}
	return s
}

func (s *subscription) close() {
	if s == nil {
		return
	}
	for _, stop := range s.stops {
		stop()
	}
}

// take says whether a release was published since it was asked last.
func (s *subscription) take() bool { return s != nil && s.notified.Swap(false) }

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
