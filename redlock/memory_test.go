package redlock_test

import (
	"math/rand/v2"
	"sync"
	"time"

	"redlocksim/redlock"
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

func (m *memory) Do(batch []*redlock.Command) {
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

func (m *memory) apply(cmd *redlock.Command) redlock.Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for _, k := range cmd.Keys {
		e, there := m.keys[k]
		there = there && now.Before(e.until)
		if there != (cmd.Op != redlock.OpAcquire) || (there && e.value != cmd.Value) {
			return redlock.Reply{Outcome: redlock.Declined}
		}
	}
	for _, k := range cmd.Keys {
		if cmd.Op == redlock.OpRelease {
			delete(m.keys, k)
			continue
		}
		until := now.Add(cmd.TTL)
		if e := m.keys[k]; cmd.Op == redlock.OpExtend && e.until.After(until) {
			until = e.until
		}
		m.keys[k] = entry{cmd.Value, until}
	}
	return redlock.Reply{Outcome: redlock.Accepted}
}

func (m *memory) left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.keys)
}
