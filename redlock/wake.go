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

// bells are what rings when a key is released, by key. Calls that wait for the same key share one.
type bells struct {
	mu    sync.Mutex
	byKey map[string]*bell
}

type bell struct {
	ears  []*ear   // in the order in which they came
	stops []func() // the listening on each node
}

// ear is a call that waits to be told. A nil one is told of nothing.
type ear struct {
	client *Client
	keys   []string
	waiter driver.Waiter
	told   bool // guarded by the bells' lock
}

// listen has a call told of releases of the keys, from some time soon on.
func (c *Client) listen(keys []string) *ear {
	e := &ear{client: c, keys: keys, waiter: c.tasks.NewWaiter()}
	for _, key := range keys {
		c.bells.mu.Lock()
		b := c.bells.byKey[key]
		isNew := b == nil
		if isNew {
			b = &bell{}
			if c.bells.byKey == nil {
				c.bells.byKey = map[string]*bell{}
			}
			c.bells.byKey[key] = b
		}
		b.ears = append(b.ears, e)
		c.bells.mu.Unlock()
		if !isNew {
			continue
		}
		var stops []func()
		for _, n := range c.nodes {
			stops = append(stops, n.(driver.Listener).Listen(driver.WakeChannel(key), func() { c.bells.ring(b) }))
		}
		c.bells.mu.Lock()
		b.stops = stops // before e is closed, which keeps the bell
		c.bells.mu.Unlock()
	}
	return e
}

func (b *bells) ring(one *bell) {
	b.mu.Lock()
	ears := slices.Clone(one.ears)
	for _, e := range ears {
		e.told = true
	}
	b.mu.Unlock()
	for _, e := range ears {
		e.waiter.Wake()
	}
}

// close ends the listening, of the last who waits for a key on the nodes, too.
func (e *ear) close() {
	if e == nil {
		return
	}
	b := &e.client.bells
	var stops []func()
	b.mu.Lock()
	for _, key := range e.keys {
		one := b.byKey[key]
		one.ears = slices.DeleteFunc(one.ears, func(o *ear) bool { return o == e })
		if len(one.ears) == 0 {
			delete(b.byKey, key)
			stops = append(stops, one.stops...)
		}
	}
	b.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
}

// take says whether there was news since it was asked last.
func (e *ear) take() bool {
	if e == nil {
		return false
	}
	e.client.bells.mu.Lock()
	defer e.client.bells.mu.Unlock()
	told := e.told
	e.told = false
	return told
}

// newSpread draws the part of the spread to wait for. A source of random bytes that fails has drawn the delay just before.
func (c *Client) newSpread() time.Duration {
	var raw [8]byte
	if _, err := io.ReadFull(c.rand, raw[:]); err != nil {
		return c.wakeSpread
	}
	return time.Duration(binary.LittleEndian.Uint64(raw[:]) % uint64(c.wakeSpread))
}
