package redlock

import (
	"context"
	"fmt"
	"slices"
	"sync"
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
// It should be short compared with the delay of [WithRetryDelay]: with a longer one most callers ask when they would
// have asked anyway.
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

// waiters are the subscriptions of a client to releases, by key. Calls that wait for the same key share what listens on
// the nodes.
type waiters struct {
	mu    sync.Mutex
	byKey map[string]*listeners
}

// listeners listen on each node for releases of one key.
type listeners struct {
	subscriptions []*subscription // in the order in which they came
	stops         []func()        // one for each node
}

// subscription notifies a call that waits. A nil one never does.
type subscription struct {
	waiters  *waiters
	keys     []string
	waiter   driver.Waiter
	notified bool // guarded by the waiters' lock
}

// subscribe notifies a call of releases of the keys, from some time soon on.
func (w *waiters) subscribe(keys []string, on *settings) *subscription {
	s := &subscription{waiters: w, keys: keys, waiter: on.tasks.NewWaiter()}
	for _, key := range keys {
		of, isNew := w.add(key, s)
		if !isNew {
			continue
		}
		var stops []func()
		for _, n := range on.nodes {
			stops = append(stops, n.(driver.Listener).Listen(driver.WakeChannel(key), func() { w.notify(of) }))
		}
		w.mu.Lock()
		of.stops = stops // before s is closed, which keeps the listeners
		w.mu.Unlock()
	}
	return s
}

// add has s notified of releases of the key, and says whether nobody has listened for them before.
func (w *waiters) add(key string, s *subscription) (of *listeners, isNew bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byKey == nil {
		w.byKey = map[string]*listeners{}
	}
	of = w.byKey[key]
	if of == nil {
		of, isNew = &listeners{}, true
		w.byKey[key] = of
	}
	of.subscriptions = append(of.subscriptions, s)
	return of, isNew
}

// notify wakes all who wait for a key.
func (w *waiters) notify(of *listeners) {
	w.mu.Lock()
	all := slices.Clone(of.subscriptions)
	for _, s := range all {
		s.notified = true
	}
	w.mu.Unlock()
	for _, s := range all {
		s.waiter.Wake()
	}
}

// close ends the subscription, and the listening on the nodes for keys that nobody waits for any more.
func (s *subscription) close() {
	if s == nil {
		return
	}
	w := s.waiters
	var stops []func()
	w.mu.Lock()
	for _, key := range s.keys {
		of := w.byKey[key]
		of.subscriptions = slices.DeleteFunc(of.subscriptions, func(o *subscription) bool { return o == s })
		if len(of.subscriptions) == 0 {
			delete(w.byKey, key)
			stops = append(stops, of.stops...)
		}
	}
	w.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
}

// take says whether a release was published since it was asked last.
func (s *subscription) take() bool {
	if s == nil {
		return false
	}
	s.waiters.mu.Lock()
	defer s.waiters.mu.Unlock()
	notified := s.notified
	s.notified = false
	return notified
}

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
