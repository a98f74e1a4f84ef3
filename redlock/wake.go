package redlock

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"redlocksim/redlock/driver"
)

// WithWakeUp has releases of this client tell those who wait, and calls of Lock that wait be told: they try again at once
// instead of when their random delay is over, and otherwise as without it. What they are told is a message that the
// release publishes on each node (Redis' PUBLISH, on [driver.WakeChannel]), in the same round trip. A message may be lost, and
// the client of the holder may not have the option; that only costs the rest of the delay, which [WithRetryDelay] sets.
//
// All who wait are told at the same time. So each waits for a random part of the spread first, which should be long
// enough for some attempts, one after the other; 10 ms suit round trips of about a millisecond.
//
// Calls of Lock that wait for the same resources, once one of them has been refused, listen on every node until the last of
// them returns. The nodes must be Listeners, and their users allowed to publish and subscribe there. Those of package goredis
// use one more connection to each server for all that is waited for, and none while nobody waits.
// Without the option nothing is published and nobody listens.
func WithWakeUp(spread time.Duration) Option {
	return func(c *Client) error {
		if spread <= 0 {
			return fmt.Errorf("%w: wake-up spread %v is not positive", ErrInvalid, spread)
		}
		for _, n := range c.nodes {
			if _, ok := n.(driver.Listener); !ok {
				return fmt.Errorf("%w: node %q is no Listener, which the wake-up needs", ErrInvalid, n.Name())
			}
		}
		c.wakeSpread = spread
		return nil
	}
}

// waiters are the subscriptions of a client to releases, by key. Calls that wait for the same key share what listens on the nodes.
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
	client   *Client
	keys     []string
	waiter   driver.Waiter
	notified bool // guarded by the waiters' lock
}

// subscribe notifies a call of releases of the keys, from some time soon on.
func (c *Client) subscribe(keys []string) *subscription {
	s := &subscription{client: c, keys: keys, waiter: c.tasks.NewWaiter()}
	for _, key := range keys {
		of, isNew := c.waiters.add(key, s)
		if !isNew {
			continue
		}
		var stops []func()
		for _, n := range c.nodes {
			stops = append(stops, n.(driver.Listener).Listen(driver.WakeChannel(key), func() { c.waiters.notify(of) }))
		}
		c.waiters.mu.Lock()
		of.stops = stops // before s is closed, which keeps the listeners
		c.waiters.mu.Unlock()
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
	w := &s.client.waiters
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
	s.client.waiters.mu.Lock()
	defer s.client.waiters.mu.Unlock()
	notified := s.notified
	s.notified = false
	return notified
}

// newSpread draws the part of the spread to wait for. A source of random bytes that fails has drawn the delay just before.
func (c *Client) newSpread() time.Duration {
	var raw [8]byte
	if _, err := io.ReadFull(c.rand, raw[:]); err != nil {
		return c.wakeSpread
	}
	return time.Duration(binary.LittleEndian.Uint64(raw[:]) % uint64(c.wakeSpread))
}
