package redlocktest

import (
	"time"

	"redlocksim/redlock/driver"
)

// memory is what a node holds. Its times are readings of the node's clock in milliseconds, as Redis has them.
type memory struct {
	run      string
	locks    map[string]lock
	counters map[string]counter // the fencing tokens
	record   record             // the restart guard's
}

// lock is the key of a lock. Redis drops it when its clock reads more than until.
type lock struct {
	value string
	until int64
}

type counter struct {
	token int64
	until int64
}

func newMemory(run string) memory {
	return memory{run: run, locks: map[string]lock{}, counters: map[string]counter{}}
}

// carryOut does what a command asks, and gives the keys that it released.
func (m *memory) carryOut(c *driver.Command, now int64) (reply driver.Reply, released []string) {
	switch c.Op {
	case driver.OpAcquire:
		return m.acquire(c, now), nil
	case driver.OpExtend:
		return m.extend(c, now), nil
	case driver.OpRelease:
		released = m.release(c, now)
		if len(released) < len(c.Keys) {
			return driver.Reply{Outcome: driver.Declined}, released
		}
		return driver.Reply{Outcome: driver.Accepted}, released
	}
	return m.prepare(c.Conditions), nil
}

// acquire checks the guard, then the keys, then the counters, before it writes anything.
func (m *memory) acquire(c *driver.Command, now int64) driver.Reply {
	var conditions driver.Conditions
	if c.Conditions != nil {
		conditions = *c.Conditions
	}
	if conditions.MaxTTL != 0 {
		if reply, fit := m.vote(&conditions, now); !fit {
			return reply
		}
	}
	fenced := conditions.Token != 0
	var highest int64
	taken := false
	for _, key := range c.Keys {
		if fenced {
			highest = max(highest, m.counter(key, now))
		}
		held, is := m.holder(key, now)
		taken = taken || is && !(fenced && held.value == c.Value)
	}
	switch {
	case taken:
		return driver.Reply{Outcome: driver.Declined, Token: highest}
	case fenced && conditions.Token <= highest:
		return driver.Reply{Outcome: driver.Behind, Token: highest}
	}
	for _, key := range c.Keys {
		m.raise(key, c, now)
		if fenced {
			m.counters[key] = counter{conditions.Token, now + conditions.CounterTTL.Milliseconds()}
		}
	}
	return driver.Reply{Outcome: driver.Accepted}
}

// extend raises the ends of all keys if the value holds all of them.
func (m *memory) extend(c *driver.Command, now int64) driver.Reply {
	for _, key := range c.Keys {
		if held, is := m.holder(key, now); !is || held.value != c.Value {
			return driver.Reply{Outcome: driver.Declined}
		}
	}
	for _, key := range c.Keys {
		m.raise(key, c, now)
	}
	return driver.Reply{Outcome: driver.Accepted}
}

// release deletes those keys that hold the value.
func (m *memory) release(c *driver.Command, now int64) (released []string) {
	for _, key := range c.Keys {
		if held, is := m.holder(key, now); is && held.value == c.Value {
			delete(m.locks, key)
			released = append(released, key)
		}
	}
	return released
}

// raise has the command's value hold a key for its TTL from now, or for as long as it holds it already.
func (m *memory) raise(key string, c *driver.Command, now int64) {
	until := now + int64(c.TTL/time.Millisecond)
	if held, is := m.holder(key, now); is {
		until = max(until, held.until)
	}
	m.locks[key] = lock{c.Value, until}
}

func (m *memory) holder(key string, now int64) (held lock, is bool) {
	held, is = m.locks[key]
	return held, is && now <= held.until
}

// counter is 0 where there is none.
func (m *memory) counter(key string, now int64) int64 {
	if c := m.counters[key]; now <= c.until {
		return c.token
	}
	return 0
}

// steal has another hold a key, and raises the counter if there is one.
func (m *memory) steal(key string, until int64) {
	m.locks[key] = lock{"stolen", until}
	if c, is := m.counters[key]; is {
		c.token++
		m.counters[key] = c
	}
}

// drop deletes the keys that hold a value.
func (m *memory) drop(keys []string, value string) {
	for _, key := range keys {
		if m.locks[key].value == value {
			delete(m.locks, key)
		}
	}
}
