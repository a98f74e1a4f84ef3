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
	// Resource is the resource whose lock or counter is removed; those of the others stay. Default: all resources.
	// Example: stock
	Resource string `yaml:"resource"`
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

// goes says whether a key is one of those that are removed.
func (e *Evict) goes(on Ground) func(key string) bool {
	isLock, isCounter := locksOf(on, e.Resource), driver.IsTokenKey
	if e.Resource != "" {
		isCounter = func(key string) bool { return key == driver.TokenKey(e.Resource) }
	}
	return func(key string) bool {
		switch e.Keys {
		case Locks:
			return isLock(key)
		case Counters:
			return isCounter(key)
		case GuardRecord:
			return key == driver.GuardKey
		}
		return e.Resource == "" || isLock(key) || isCounter(key)
	}
}

// locksOf says which keys are of locks on a resource; of any if that is empty.
func locksOf(on Ground, resource string) func(key string) bool {
	if resource == "" {
		return driver.IsLockKey
	}
	return func(key string) bool {
		of, is := on.LockOf(key)
		return is && of == resource
	}
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
		e := &Evict{Node: l.node(c), Keys: OneOf(c.For("keys", 0), all...)}
		if e.Keys != GuardRecord {
			e.Resource = l.resource(c)
		}
		return e
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
	what := map[Evicted]string{Locks: "all locks are", Counters: "all fencing counters are", GuardRecord: "the restart guard's record is", AllKeys: "all keys are"}[e.Keys]
	if e.Resource != "" {
		what = map[Evicted]string{Locks: "the lock on %s is", Counters: "the fencing counter of %s is", AllKeys: "the lock on %s and its fencing counter are"}[e.Keys]
		what = fmt.Sprintf(what, e.Resource)
	}
	return what + " evicted from " + e.Node
}

// Check implements Fault.
func (e *Evict) Check(n Names) []Problem {
	if n.Service != "" {
		return []Problem{{Field: "node", Word: e.Node, Text: "runs a " + n.Service + " in the place of Redis, which alone evicts keys"}}
	}
	problems := append(among("node", e.Node, n.Nodes, "node"), amongResources(e.Resource, n)...)
	if e.Resource != "" && e.Keys == GuardRecord {
		problems = append(problems, Problem{Field: "resource", Word: e.Resource, Text: "the restart guard's record is of no resource"})
	}
	return problems
}

// amongResources is what is wrong with the resource of a fault, which may be left out.
func amongResources(name string, n Names) []Problem {
	if name == "" {
		return nil
	}
	return among("resource", name, n.Resources, "resource")
}

// Inject implements Fault.
func (e *Evict) Inject(f *Field) error {
	if !f.ground.Up(e.Node) {
		return fmt.Errorf("faults: evict: %s is down", e.Node)
	}
	lost, err := f.ground.Evict(e.Node, e.goes(f.ground))
	if err != nil {
		return err
	}
	if !lost.Any {
		return fmt.Errorf("faults: evict: %s has no such keys", e.Node)
	}
	f.uses(f.ground.Now(), func(u *Used) { u.Evictions = append(u.Evictions, Eviction{e.Node, lost.Locks, lost.Counters}) })
	f.note("evict", "", e.Node, 0, "%v", e)
	return nil
}

// Target implements Fault.
func (e *Evict) Target() string { return e.Node }

// Size implements Fault: it has no number.
func (e *Evict) Size() *Size { return nil }

// Live implements Fault.
func (e *Evict) Live(Deployment) Live {
	if e.Resource != "" {
		return Live{Not: notOne}
	}
	return Live{}
}

// notOne is why some faults cannot happen in a real run.
const notOne = "of a real node, the keys of all locks are evicted, and not those of one"

// Moves says whether a step of a node's wall clock, which reads now, has a lock there expire at another time, or ends something
// else.
func Moves(r redis.Record, now kernel.Wall, by time.Duration) bool {
	if r.ExpiresAt == 0 {
		return false
	}
	return driver.IsLockKey(r.Key) || int64(now)+int64(by) > r.ExpiresAt*int64(time.Millisecond)
}
