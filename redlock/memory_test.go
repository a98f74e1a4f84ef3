package redlock_test

import (
	"math/rand/v2"
	"sync"
	"time"

	"redlocksim/redlock/driver"
)

// memory is a node in this process, for the example and the stress test: what a Redis server does with a map, after a
// random delay each way.
type memory struct {
	name  string
	delay time.Duration // the longest, each way; zero: answers before Do returns

	mu   sync.Mutex
	keys map[string]entry
}

type entry struct {
	value string
	until time.Time
}

func newMemory(name string, delay time.Duration) *memory {
	return &memory{name: name, delay: delay, keys: map[string]entry{}}
}

func (m *memory) Name() string { return m.name }

func (m *memory) Do(batch []*driver.Command) {
	for _, cmd := range batch {
		if m.delay == 0 {
			cmd.Done(cmd, m.apply(cmd))
			continue
		}
		time.AfterFunc(rand.N(m.delay), func() {
			reply := m.apply(cmd)
			time.AfterFunc(rand.N(m.delay), func() { cmd.Done(cmd, reply) })
		})
	}
}

func (m *memory) apply(cmd *driver.Command) driver.Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for _, k := range cmd.Keys {
		e, there := m.keys[k]
		there = there && now.Before(e.until)
		if there != (cmd.Op != driver.OpAcquire) || (there && e.value != cmd.Value) {
			return driver.Reply{Outcome: driver.Declined}
		}
	}
	for _, k := range cmd.Keys {
		if cmd.Op == driver.OpRelease {
			delete(m.keys, k)
			continue
		}
		until := now.Add(cmd.TTL)
		if e := m.keys[k]; cmd.Op == driver.OpExtend && e.until.After(until) {
			until = e.until
		}
		m.keys[k] = entry{cmd.Value, until}
	}
	return driver.Reply{Outcome: driver.Accepted}
}

func (m *memory) left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.keys)
}
