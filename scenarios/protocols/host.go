package protocols

import (
	"context"
	"io"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
)

// Host is what a client process offers to a protocol: a process of the simulator, or one of the operating system.
//
// One thing runs at a time in it, and the next gets its turn where that one waits: in Sleep, in Redis.Do, in a Waiter of
// Tasks, in Confirm or Next of a Subscription. Programs, tasks and what LockClock's AfterFunc calls have the turn while
// they run.
type Host interface {
	// Name is the process's name.
	Name() string
	// LockClock is the clock that validity is measured with.
	LockClock() driver.Clock
	// Wall reads the wall clock.
	Wall() time.Time
	// Tasks starts what runs beside the program, one thing at a time.
	Tasks() driver.Tasks
	// Rand is random bytes. Reading them does not fail.
	Rand() io.Reader
	// Sleep waits until the monotonic clock has advanced by d, or ctx ends.
	Sleep(ctx context.Context, d time.Duration)
	// Scale is a duration that a protocol has as a constant, in the time of the process: one that plays a scenario faster
	// than it is written has its settings divided, and this does the same.
	Scale(d time.Duration) time.Duration

	// Redis is plain connections to all nodes, in their order.
	Redis() []Redis
	// MasterOf is the node that requests to a node go to: after a failover, another.
	MasterOf(node string) string

	// Nodes are those of the shipped library, and Runtime has it use what the process has in place of the system's. It runs
	// as it does in production: where the process has goroutines, side by side with everything else.
	Nodes() []driver.Node
	Runtime() driver.Runtime
	// Sequence is fencing tokens from the storage of the resource.
	Sequence() driver.TokenSource
	// Leave gives up the turn, before a call of the shipped library that waits, and Enter waits for it: after the call, and
	// where the library calls.
	Leave()
	Enter()
}

// Redis is a plain connection to a node, for protocols that are not the shipped library.
type Redis interface {
	// Node is the node's name.
	Node() string
	// Do sends a request and waits for the reply, at most until the lock clock reads deadline.
	Do(deadline time.Time, r rediscmd.Request) rediscmd.Reply
	// Subscribe asks the node for what is published on a channel from now on.
	Subscribe(channel string) Subscription
}

// Subscription is a connection over which a node sends what is published on a channel. The errors of Confirm and Next are
// rediscmd.ErrTimeout when the lock clock reads deadline before, rediscmd.ErrReset if the connection is broken, and that of
// ctx if ctx ends.
type Subscription interface {
	// Confirm waits until the node has confirmed the subscription.
	Confirm(ctx context.Context, deadline time.Time) error
	// Next waits for a message and takes it.
	Next(ctx context.Context, deadline time.Time) (string, error)
	// Close ends the subscription.
	Close()
}
