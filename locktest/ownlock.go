package locktest

import (
	"context"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
)

// Locker is a client's side of a lock of your own.
type Locker interface {
	// Lock acquires the lock on a resource, trying again until ctx ends.
	Lock(ctx context.Context, resource string, ttl time.Duration) (Lease, error)
	// TryLock makes a single attempt.
	TryLock(ctx context.Context, resource string, ttl time.Duration) (Lease, error)
}

// AllLocker is a [Locker] that can take one lock on several resources, all of them or none.
type AllLocker interface {
	Locker
	LockAll(ctx context.Context, resources []string, ttl time.Duration) (Lease, error)
	TryLockAll(ctx context.Context, resources []string, ttl time.Duration) (Lease, error)
}

// Lease is a lock that was granted.
type Lease interface {
	// Until is when the client stops believing in the lock, by Env.Runtime.Clock; the zero time if it never does by itself.
	Until() time.Time
	// Context ends when the client is told that it no longer has the lock, or released it.
	Context() context.Context
	// Token is the fencing token; false if the lock has none.
	Token() (int64, bool)
	Extend(ctx context.Context, ttl time.Duration) error
	Unlock(ctx context.Context) error
}

// Warner is a [Lease] whose context ends before it, so that its holder stops in time.
type Warner interface {
	// ContextEnds is when the context ends, by Env.Runtime.Clock, unless the lease is extended before.
	ContextEnds() time.Time
}

// Env is what a lock in the simulator may use; see [Setup]. Package driver is redlock's seam to nodes, clocks and
// goroutines: what an adapter of that library implements is what a lock meets here.
type Env struct {
	// Name is the client's name.
	Name string
	// NodeTimeout is how long the settings say to wait for a node.
	NodeTimeout time.Duration
	// Nodes are the client's nodes, for a lock that is made of driver.Commands, and Redis plain connections to them, in the
	// same order, for any other.
	Nodes []driver.Node
	Redis []Redis
	// Runtime is the clock that validity is measured with, the goroutines and the random bytes. Reading those does not fail.
	Runtime driver.Runtime

	env   protocols.Env
	guard *guard
}

// Wall reads the wall clock.
func (e *Env) Wall() time.Time {
	e.guard.check("Env.Wall")
	return e.env.Wall()
}

// Sleep waits until the monotonic clock has advanced by d, or ctx ends.
func (e *Env) Sleep(ctx context.Context, d time.Duration) {
	e.guard.check("Env.Sleep")
	e.env.Sleep(ctx, d)
}

// Believe says until when the client believes in the lock that ctx is about: at the grant, before it is returned, and at every
// extension. The zero time is for as long as nothing else ends it.
func (e *Env) Believe(ctx context.Context, until time.Time) {
	e.guard.check("Env.Believe")
	e.env.Believe(ctx, until)
}

// Disbelieve says that the belief ends now, and why, in words that go on from "its lease ends: ".
func (e *Env) Disbelieve(ctx context.Context, why string) {
	e.guard.check("Env.Disbelieve")
	e.env.Disbelieve(ctx, why)
}

// Step notes a step of the lock's algorithm. Faults can be injected there, and the story tells it.
func (e *Env) Step(ctx context.Context, s Step) {
	e.guard.check("Env.Step")
	e.env.Step(ctx, protocols.Step(s))
}

// Attempt says which attempt of the call that ctx is about comes next, from 1: random bytes are drawn for it.
func (e *Env) Attempt(ctx context.Context, number int) {
	e.guard.check("Env.Attempt")
	e.env.Attempt(ctx, number)
}

// Thread is the number, from 1, of the program of the client that makes the call ctx is about, for a lock that is re-entrant.
func (e *Env) Thread(ctx context.Context) int {
	e.guard.check("Env.Thread")
	return e.env.Thread(ctx)
}

// Step is a step of a lock's algorithm.
type Step struct {
	Name    string
	Node    string        // whose answer it is, if any
	Attempt int           // which attempt of the call
	Span    time.Duration // a validity or delay, where it has one
	Detail  string        // for people
	Late    bool          // it happens outside of the call that it belongs to
}

// What is known of a command that was not answered, by the error of [Redis]: ErrTimeout, there was no reply before the
// deadline, and the command may have been applied or may still be; or ErrReset, the connection was refused or reset.
var ErrTimeout, ErrReset = unanswered()

func unanswered() (timeout, reset error) { return rediscmd.ErrTimeout, rediscmd.ErrReset }

// Redis is a plain connection to a node.
type Redis struct{ connection protocols.Redis }

// Node is the node's name.
func (r Redis) Node() string { return r.connection.Node() }

// Do sends a command, as "SET", key, value, "NX", "PX", "2000", and waits for the reply, at most until Env.Runtime.Clock
// reads deadline. The reply is nil, an int64, a string, or a list of these as []any. The error matches [ErrTimeout] or
// [ErrReset], or is what the node answered.
func (r Redis) Do(deadline time.Time, args ...string) (any, error) {
	reply := r.connection.Do(deadline, rediscmd.Request{Args: args})
	return reply.Value, reply.Err
}

// Script is Do for a script, which runs at the node in one piece.
func (r Redis) Script(deadline time.Time, lua string, keys, args []string) (any, error) {
	reply := r.connection.Do(deadline, rediscmd.Request{Keys: keys, Argv: args, Script: &rediscmd.Script{Lua: lua}})
	return reply.Value, reply.Err
}

// Subscribe asks the node for what is published on a channel from now on.
func (r Redis) Subscribe(channel string) Subscription { return r.connection.Subscribe(channel) }

// Subscription is a connection over which a node sends what is published on a channel. The errors of Confirm and Next match
// [ErrTimeout] when Env.Runtime.Clock reads deadline before, [ErrReset] if the connection is broken, and that of ctx if ctx
// ends.
type Subscription interface {
	// Confirm waits until the node has confirmed the subscription.
	Confirm(ctx context.Context, deadline time.Time) error
	// Next waits for a message and takes it.
	Next(ctx context.Context, deadline time.Time) (string, error)
	// Close ends the subscription.
	Close()
}

// foreign is a lock of the caller's as the simulator takes it, and the stray calls that it makes; nil for nil.
func foreign(lock func(*Env) (Locker, error)) (*scenarios.Foreign, *strays) {
	if lock == nil {
		return nil, nil
	}
	strays := newStrays()
	return &scenarios.Foreign{New: func(host protocols.Env) (protocols.Locker, error) {
		defer kernel.Enter()()
		g := &guard{strays, host.Name()}
		e := &Env{Name: host.Name(), NodeTimeout: host.Settings.NodeTimeout, Runtime: g.runtime(host.Runtime()), env: host, guard: g}
		for _, n := range host.Nodes() {
			e.Nodes = append(e.Nodes, guardedNode{n.(driver.Listener), g})
		}
		for _, r := range host.Redis() {
			e.Redis = append(e.Redis, Redis{guardedRedis{r, g}})
		}
		locker, err := lock(e)
		if all, ok := locker.(AllLocker); ok {
			return allProtocol{protocol{locker}, all}, err
		}
		return protocol{locker}, err
	}}, strays
}

// protocol is a lock of the caller's as the simulator has it, and allProtocol one that can lock several resources as one.
type protocol struct{ own Locker }

type allProtocol struct {
	protocol
	all AllLocker
}

func (p protocol) Lock(ctx context.Context, resource string, ttl time.Duration) (protocols.Lease, error) {
	return lease(p.own.Lock(ctx, resource, ttl))
}

func (p protocol) TryLock(ctx context.Context, resource string, ttl time.Duration) (protocols.Lease, error) {
	return lease(p.own.TryLock(ctx, resource, ttl))
}

func (p allProtocol) LockAll(ctx context.Context, resources []string, ttl time.Duration) (protocols.Lease, error) {
	return lease(p.all.LockAll(ctx, resources, ttl))
}

func (p allProtocol) TryLockAll(ctx context.Context, resources []string, ttl time.Duration) (protocols.Lease, error) {
	return lease(p.all.TryLockAll(ctx, resources, ttl))
}

// lease is what a call of a lock gave, as a protocol gives it.
func lease(l Lease, err error) (protocols.Lease, error) {
	if l == nil {
		return nil, err
	}
	return l, err
}
