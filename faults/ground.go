package faults

import (
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// Ground is what faults are injected into: a world of the simulator ([In]), or processes of the operating system (package
// live). Whatever is asked of it takes effect at once, and everything happens one thing after the other. A fault that only the
// simulator can have does not go through it: see Field.simulated.
type Ground interface {
	// Now is true time, 0 where the timeline begins.
	Now() kernel.True
	// At calls f at a true time, behind all that was to happen then before.
	At(at kernel.True, f func())
	// Record adds an event to the history, as one that happens now.
	Record(history.Event)
	// Hear calls f at every event of the history, with the true time of it, before anything else happens.
	Hear(f func(at kernel.True, e *history.Event))
	// Grain is how exactly true time is known, and as exactly it is told; positive.
	Grain() time.Duration

	// Clients names the client processes, Nodes the nodes that they address, and Replicas the replicas of these.
	Clients() []string
	Nodes() []string
	Replicas() []string

	// Clocks are those of clients and nodes, by name.

	// StepClock moves the wall clock of a process: forward, or back if by is negative. It says whether that matters to a lock:
	// not if the process is a Redis node that is up, has no replicas, and on which none expires at another time now. What a
	// node sends to replicas later has deadlines of its clock, and they compare these with theirs.
	StepClock(process string, by time.Duration) (matters bool)
	// SetClockRate has all clocks of a process run fast by ppb parts per billion from now on, slow if negative.
	SetClockRate(process string, ppb int64)
	// AfterWall calls f once the wall clock of a node reads d more than it does now, whatever happens to that clock until then.
	AfterWall(node string, d time.Duration, f func())

	// A fault of links can be injected several times into the same one, and is over when each of them was undone.

	// Lose loses the messages on links, those on their way included.
	Lose(*Links) (undo func())
	// Hold keeps messages back. Undoing it delivers them, and says for how long holds that overlap have kept the first of them,
	// or by how much one of them is later in all, if it was slowed before; zero where that is not known exactly.
	Hold(*Links) (undo func() time.Duration)
	// Slow adds to the time that messages take. most is what all faults in force together now add on one of the links.
	Slow(l *Links, by time.Duration) (most time.Duration, undo func())
	// Reset breaks the connections of links, in both directions.
	Reset(*Links)
	// Met says whether a message or a connection has met any of these until now.
	Met() bool

	// Servers are the nodes, by name.

	// Up says whether a node runs.
	Up(node string) bool
	// Stop ends a node that is up, and says when.
	Stop(node string, how Stop) (kernel.True, error)
	// Start starts a node that is down, with what is on its disk.
	Start(node string) (Memory, error)
	// Evict removes those keys from a node that is up that are to go, and returns what it no longer knows.
	Evict(node string, goes func(key string) bool) (Forgotten, error)
	// IsReplica says whether one of the replicas is one still, or again.
	IsReplica(name string) bool
	// Promote makes a replica a master. It returns what the replica lacks of what the node knows, or knew when it stopped. A
	// replica that is down, or is a master already, is an error.
	Promote(node, replica string) (Forgotten, error)
	// Lead has clients send a replica what they address to the node.
	Lead(clients []string, node, replica string)

	// Processes are clients and, where it says so, nodes, by name.

	// Paused says whether a client or node has been paused or suspended, and can go on.
	Paused(process string) bool
	// Pause stops a client or node where it is. One that has crashed, or is down, is an error.
	Pause(process string) error
	// Suspend stops a client together with its monotonic clock. One that has crashed is an error.
	Suspend(client string) error
	// WakeClock has the monotonic clock of a process go on, if it is suspended. The process stays paused.
	WakeClock(process string)
	// Resume has a process that is paused or suspended go on, with its clock.
	Resume(process string) error
	// Hang has the work of a client go on without an end.
	Hang(client string)
	// Crash ends a client, and records it. One that has crashed already is an error.
	Crash(client string) error
	// Restart starts a client again. One that has not crashed is an error.
	Restart(client string) error
}

// Stop is a way in which a node stops.
type Stop uint8

const (
	// Killed: it loses what it had not handed to the operating system, and connections to it are refused.
	Killed Stop = iota
	// PoweredOff: it loses what was not fsynced, and connections to it get no answer.
	PoweredOff
	// ShutDown: it writes out what it persists, and connections to it are refused.
	ShutDown
)

// Memory is what a node knows that was started again.
type Memory struct {
	Forgotten
	// Empty: it knows nothing.
	Empty bool
}

// Forgotten is what a node no longer knows, or a replica never learned.
type Forgotten struct {
	// Any: it lacks a key, has another value for it, or thinks that it expires earlier.
	Any bool
	// Locks: one of them is a lock.
	Locks bool
	// Counters: one of the fencing counters is gone, or is what it was before.
	Counters bool
}

// Forget compares what a node knew before with what it knows after. Keys that expired before a reading of its wall clock, in
// milliseconds since 1970, do not count; all do if that is zero.
func Forget(before, after []redis.Record, now int64) (f Forgotten) {
	known := make(map[string]redis.Record, len(after))
	for _, r := range after {
		known[r.Key] = r
	}
	for _, b := range before {
		if b.ExpiresAt != 0 && b.ExpiresAt < now {
			continue
		}
		a, ok := known[b.Key]
		same := ok && a.Value == b.Value
		if same && (a.ExpiresAt == 0 || b.ExpiresAt != 0 && a.ExpiresAt >= b.ExpiresAt) {
			continue
		}
		f.Any = true
		f.Locks = f.Locks || driver.IsLockKey(b.Key)
		f.Counters = f.Counters || !same && driver.IsTokenKey(b.Key)
	}
	return f
}

// Moves says whether a step of a node's wall clock, which reads now, has a lock there expire at another time, or ends something
// else.
func Moves(r redis.Record, now kernel.Wall, by time.Duration) bool {
	if r.ExpiresAt == 0 {
		return false
	}
	return driver.IsLockKey(r.Key) || int64(now)+int64(by) > r.ExpiresAt*int64(time.Millisecond)
}
