package faults

import (
	"fmt"
	"time"

	"redlocksim/internal/strictyaml"
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// Evict removes keys from a Redis node that is up, as Redis does to make room where maxmemory-policy is not noeviction, or as
// another program does that deletes what is not its own.
type Evict struct {
	// Node is the node. Example: C
	Node string `yaml:"node,required"`
	// Keys are those that are removed: locks, counters (the fencing counters), guard (the restart guard's record) or all.
	// Default: locks. Example: counters
	Keys Evicted `yaml:"keys"`
}

// Evicted is which keys of a node are evicted.
type Evicted uint8

// Locks is the zero value.
const (
	Locks Evicted = iota
	Counters
	GuardRecord
	AllKeys
)

var _ = strictyaml.Enum[Evicted]("kind of keys").Word("locks", Locks).Word("counters", Counters).
	Word("guard", GuardRecord).Word("all", AllKeys)

// Has says whether a key is one of them.
func (e Evicted) Has(key string) bool {
	switch e {
	case Locks:
		return driver.IsLockKey(key)
	case Counters:
		return driver.IsTokenKey(key)
	case GuardRecord:
		return key == driver.GuardKey
	}
	return true
}

var evict = Kind{
	Name: "evict", New: func() Fault { return new(Evict) },
	Target: OneNode, Takes: []string{"memory-loss", "counter-loss"},
	Applies: func(l *Limits) bool { return l.Names.Service == "" && l.evictable() != nil },
	Draw: func(c Choices, l *Limits) Fault {
		all := l.evictable()
		if all == nil {
			return nil
		}
		return &Evict{Node: l.node(c), Keys: OneOf(c.For("keys", 0), all...)}
	},
	Place: func(l *Limits) (all []Fault) {
		for _, n := range l.Names.Nodes {
			all = append(all, forEach(l.evictable(), func(keys Evicted) Fault { return &Evict{Node: n, Keys: keys} })...)
		}
		return all
	},
}

// evictable are the keys that a node may lose: nil if it may lose none.
func (l *Limits) evictable() (all []Evicted) {
	if l.Beyond || l.Budget.MemoryLoss > 0 {
		all = append(all, Locks)
	}
	if l.Fenced && (l.Beyond || l.Budget.CounterLoss > 0) {
		all = append(all, Counters)
	}
	if l.MaxTTL > 0 {
		all = append(all, GuardRecord)
	}
	if l.Beyond || l.Budget.MemoryLoss > 0 && (!l.Fenced || l.Budget.CounterLoss > 0) {
		all = append(all, AllKeys)
	}
	return all
}

func (e *Evict) String() string {
	what := map[Evicted]string{Locks: "all locks", Counters: "all fencing counters", GuardRecord: "the restart guard's record", AllKeys: "all keys"}[e.Keys]
	return fmt.Sprintf("%s %s evicted from %s", what, map[bool]string{true: "is", false: "are"}[e.Keys == GuardRecord], e.Node)
}

// Check implements Fault.
func (e *Evict) Check(n Names) []Problem {
	if n.Service != "" {
		return []Problem{{Field: "node", Word: e.Node, Text: "runs a " + n.Service + " in the place of Redis, which alone evicts keys"}}
	}
	return among("node", e.Node, n.Nodes, "node")
}

// Inject implements Fault.
func (e *Evict) Inject(f *Field) error {
	if !f.ground.Up(e.Node) {
		return fmt.Errorf("faults: evict: %s is down", e.Node)
	}
	lost, err := f.ground.Evict(e.Node, e.Keys)
	if err != nil {
		return err
	}
	if !lost.Any {
		return fmt.Errorf("faults: evict: %s has no such keys", e.Node)
	}
	f.Used.Evictions = append(f.Used.Evictions, Eviction{e.Node, lost.Locks, lost.Counters})
	f.note("evict", "", e.Node, 0, "%v", e)
	return nil
}

// Target implements Fault.
func (e *Evict) Target() string { return e.Node }

// Size implements Fault: it has no number.
func (e *Evict) Size() *Size { return nil }

// Live implements Fault.
func (e *Evict) Live(Deployment) Live { return Live{} }

// Moves says whether a step of a node's wall clock, which reads now, has a lock there expire at another time, or ends something
// else.
func Moves(r redis.Record, now kernel.Wall, by time.Duration) bool {
	if r.ExpiresAt == 0 {
		return false
	}
	return driver.IsLockKey(r.Key) || int64(now)+int64(by) > r.ExpiresAt*int64(time.Millisecond)
}
