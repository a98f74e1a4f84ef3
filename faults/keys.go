package faults

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/internal/rounded"
	"redlocksim/internal/strictyaml"
	"redlocksim/redlock/driver"
	"redlocksim/sim/redis"
)

// Evict removes keys from a Redis node that is up, as Redis does to make room where maxmemory-policy is not noeviction, or as
// another program does that deletes what is not its own.
type Evict struct {
	// Node is the node. Example: C
	Node string `yaml:"node,required" of:"node"`
	// Keys are those that are removed: locks, counters (the fencing counters), guard (the restart guard's record) or all.
	// Default: locks. Example: counters
	Keys Evicted `yaml:"keys" budget:"memory-loss,counter-loss"`
	// Resource is the resource whose lock or counter is removed; those of the others stay. Default: all resources.
	// Example: stock
	Resource string `yaml:"resource" of:"resource"`
}

// ErrNoKeys is why a fault of keys is not injected into a node that has none of them, which is for clients to change.
var ErrNoKeys = errors.New("has no such keys")

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
func (e *Evict) goes(f *Field) func(key string) bool {
	isLock, isCounter := f.locksOf(e.Resource), driver.IsTokenKey
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
func (f *Field) locksOf(resource string) func(key string) bool {
	if resource == "" {
		return driver.IsLockKey
	}
	return func(key string) bool {
		of, is := f.simulated().LockOf(key)
		return is && of == resource
	}
}

func (e *Evict) String() string {
	of := e.Resource
	what := map[Evicted]string{Locks: "all locks are", Counters: "all fencing counters are",
		GuardRecord: "the restart guard's record is", AllKeys: "all keys are"}
	if of != "" {
		what = map[Evicted]string{Locks: "the lock on " + of + " is", Counters: "the fencing counter of " + of + " is",
			AllKeys: "the lock on " + of + " and its fencing counter are"}
	}
	return what[e.Keys] + " evicted from " + e.Node
}

func (e *Evict) refuses(n Names) (problems []Problem) {
	if n.Service != "" {
		problems = append(problems, Problem{Field: "node", Word: e.Node,
			Text: "runs a " + n.Service + " in the place of Redis, which alone evicts keys"})
	}
	if e.Resource != "" && e.Keys == GuardRecord {
		problems = append(problems, Problem{Field: "resource", Word: e.Resource, Text: "the restart guard's record is of no resource"})
	}
	return problems
}

func (e *Evict) drawn(c Choices, l *Limits) bool {
	if e.Keys = OneOf(c.For("keys", 0), l.evictable()...); e.Keys == GuardRecord {
		e.Resource = ""
	}
	return true
}

// Inject implements Fault.
func (e *Evict) Inject(f *Field) error {
	if !f.ground.Up(e.Node) {
		return fmt.Errorf("faults: evict: %s is down", e.Node)
	}
	lost, err := f.ground.Evict(e.Node, e.goes(f))
	if err != nil {
		return err
	}
	if !lost.Any {
		return fmt.Errorf("faults: evict: %s %w", e.Node, ErrNoKeys)
	}
	f.lost(Loss{Node: e.Node, By: EvictedFrom, Counters: lost.Counters, Harmless: !lost.Locks})
	f.happens(e, 0)
	return nil
}

func (e *Evict) live(_ Deployment, l *Live) {
	if e.Resource != "" {
		l.Not = "of a real node, the keys of all locks are evicted, and not those of one"
	}
}

// byHand injects a fault that changes keys of a node which is up, as somebody does by hand. change says whether a record was
// one to change. Unless there is one, the fault cannot happen for want of it.
func (f *Field) byHand(x Fault, change func(*redis.Record) bool, want string) error {
	s := f.simulated().Server(TargetOf(x))
	if !s.Up() {
		return fmt.Errorf("faults: %s: %s is down", kindOf(x).Name, s.Name())
	}
	found := want == ""
	for _, r := range s.Dump() {
		if change(&r) {
			s.Put(r)
			found = true
		}
	}
	if !found {
		return fmt.Errorf("faults: %s: %s %w: %s", kindOf(x).Name, s.Name(), ErrNoKeys, want)
	}
	f.happens(x, 0)
	return nil
}

// SetCounters sets all fencing counters that a node has to one number, as somebody does by hand, or to what votes have raised
// them to if that is higher: so none is lost, and 0 mends them. One that is too high costs the node its vote.
type SetCounters struct {
	// Node is the node. Example: A
	Node string `yaml:"node,required" of:"node"`
	// To is the number, up to 2^53−1. Example: 1048576
	To int64 `yaml:"to,required" range:"0..9007199254740991"`
}

// largestCount is the largest number up to which Redis' scripts tell any two integers apart.
const largestCount = 1<<53 - 1

// FarCount draws a number that is far from what votes have raised counters to, as far as some of those that decide something.
func FarCount(c Choices) int64 {
	far := OneOf(c.For("how far", 0), 1, 1<<12, 1<<20, 1<<31, 1<<32, 1<<40, int64(largestCount-1), largestCount)
	return far - c.For("less", 0).Below(2)
}

func (x *SetCounters) String() string {
	if x.To == 0 {
		return fmt.Sprintf("the fencing counters on %s are mended", x.Node)
	}
	return fmt.Sprintf("the fencing counters on %s are set to %d", x.Node, x.To)
}

func (x *SetCounters) drawn(c Choices, _ *Limits) bool {
	x.To = FarCount(c)
	return true
}

// counter is a fencing counter of a node.
type counter struct{ node, key string }

// counted is what votes had raised a counter to, and to what it was set then.
type counted struct{ votes, set int64 }

// Inject implements Fault.
func (x *SetCounters) Inject(f *Field) error {
	return f.byHand(x, func(r *redis.Record) bool {
		if !driver.IsTokenKey(r.Key) {
			return false
		}
		this := counter{x.Node, r.Key}
		votes, _ := strconv.ParseInt(r.Value, 10, 64) // it is a number
		if before, byHand := f.voted[this]; byHand && before.set == votes {
			votes = before.votes
		}
		set := max(x.To, votes)
		f.voted[this] = counted{votes, set}
		r.Value = strconv.FormatInt(set, 10)
		return true
	}, "")
}

// SetGuard sets the largest TTL in a node's record of the restart guard, as clients with another one do that prepare it for
// themselves: those of the lock get no vote from it then. A node without a record stays so, and the
// fault counts as not injected.
type SetGuard struct {
	// Node is the node. Example: A
	Node string `yaml:"node,required" of:"node"`
	// MaxTTL is what the record says then. That of the lock mends it; with 0 the record is none that anybody can read, until
	// the node is prepared anew or loses it. Example: 20s
	MaxTTL time.Duration `yaml:"max-ttl,required" range:"0s.."`
}

func (x *SetGuard) String() string {
	if x.MaxTTL == 0 {
		return fmt.Sprintf("the record of the restart guard on %s is overwritten with something else", x.Node)
	}
	return fmt.Sprintf("the largest TTL in the record of the restart guard on %s is set to %v", x.Node, rounded.Duration(x.MaxTTL))
}

func (x *SetGuard) refuses(Names) []Problem {
	if x.MaxTTL%time.Millisecond != 0 {
		return []Problem{{Field: "max-ttl", Word: fmt.Sprint(x.MaxTTL), Text: "must be a whole number of milliseconds"}}
	}
	return nil
}

func (x *SetGuard) drawn(c Choices, l *Limits) bool {
	x.MaxTTL = OneOf(c.For("to", 0), l.MaxTTL, l.MaxTTL+time.Millisecond, 2*l.MaxTTL, time.Millisecond, 0)
	return true
}

// Inject implements Fault.
func (x *SetGuard) Inject(f *Field) error {
	return f.byHand(x, func(r *redis.Record) bool {
		words := strings.Fields(r.Value) // run id, since, largest TTL
		if r.Key != driver.GuardKey || len(words) != 3 {
			return false
		}
		words[2] = strconv.FormatInt(x.MaxTTL.Milliseconds(), 10)
		if r.Value = strings.Join(words, " "); x.MaxTTL == 0 {
			r.Value = "overwritten"
		}
		return true
	}, "a record of the restart guard that can be read")
}

// Overwrite puts a list without a TTL in the place of keys of locks that a Redis node has, as somebody does by hand, or
// another program that uses the names for something else. Whoever holds such a lock loses the node's vote, and nobody else
// gets it; commands that want a string answer with an error. If the node has no such key, the fault counts as not injected.
type Overwrite struct {
	// Node is the node. Example: A
	Node string `yaml:"node,required" of:"node"`
	// Resource is the resource whose lock is overwritten. Default: all resources. Example: stock
	Resource string `yaml:"resource" of:"resource"`
}

// overwritten is that list.
var overwritten = redis.ListValue([]string{"overwritten"})

// IsOverwritten says whether a key is as a fault has left it that overwrote it.
func IsOverwritten(r redis.Record) bool { return r.Value == overwritten }

func (x *Overwrite) String() string {
	whose := "every lock's key"
	if x.Resource != "" {
		whose = "the key of the lock on " + x.Resource
	}
	return fmt.Sprintf("%s on %s is overwritten with a list", whose, x.Node)
}

// Inject implements Fault.
func (x *Overwrite) Inject(f *Field) error {
	isLock := f.locksOf(x.Resource)
	return f.byHand(x, func(r *redis.Record) bool {
		key := r.Key
		*r = redis.Record{Key: key, Value: overwritten}
		return isLock(key)
	}, "the key of a lock")
}

// WrongAnswers has a node answer every command in the same way, and carry out none: a server that is still loading, has no
// memory left or cannot save, or a proxy in front of it whose connection is in a transaction.
type WrongAnswers struct {
	// Node is the node. Example: A
	Node string `yaml:"node,required" of:"node"`
	// With is what it answers with, by the first word of it: an error, or QUEUED, which is none. Example: LOADING
	With Answer `yaml:"with,required"`
	// For is the length in true time. Default: for good. Example: 5s
	For time.Duration `yaml:"for" range:"0s.." from:"100ms" size:"the time with wrong answers"`
}

// Answer is what a node answers every command with.
type Answer uint8

// Answers of redis-server to commands that it does not carry out. Loading is the zero value.
const (
	Loading Answer = iota
	OutOfMemory
	CannotSave
	Queued
)

var _ = strictyaml.Enum[Answer]("answer").Word("LOADING", Loading).Word("OOM", OutOfMemory).
	Word("MISCONF", CannotSave).Word("QUEUED", Queued)

// replies are the answers as redis-server words them.
var replies = [...]any{
	Loading:     rediscmd.ServerError("LOADING Redis is loading the dataset in memory"),
	OutOfMemory: rediscmd.ServerError("OOM command not allowed when used memory > 'maxmemory'."),
	CannotSave:  rediscmd.ServerError("MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk."),
	Queued:      rediscmd.Status("QUEUED"),
}

func (a Answer) String() string {
	word, _, _ := strings.Cut(fmt.Sprint(replies[a]), " ")
	return word
}

// answers are those that clients can be given, first the one that looks most like a yes.
func (l *Limits) answers() []Answer {
	all := []Answer{Queued, Loading, OutOfMemory, CannotSave}
	if !l.Strict {
		return all[1:]
	}
	return all
}

func (x *WrongAnswers) String() string {
	return fmt.Sprintf("%s answers every command with %s", x.Node, x.With) + lasting(x.For)
}

func (x *WrongAnswers) drawn(c Choices, l *Limits) bool {
	x.With = OneOf(c.For("with", 0), l.answers()...)
	return true
}

// Inject implements Fault.
func (x *WrongAnswers) Inject(f *Field) error {
	undo := f.simulated().Server(x.Node).AnswerWith(replies[x.With])
	f.during(x, x.For, undo, "%s no longer answers every command with %s", x.Node, x.With)
	return nil
}
