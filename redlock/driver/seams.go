package driver

import (
	"context"
	"crypto/rand"
	"io"
	"time"
)

// Runtime is what a client runs on. A nil field stands for that of the operating system: a program sets none of them, a
// simulator all.
type Runtime struct {
	Clock Clock     // SystemClock
	Tasks Tasks     // SystemTasks
	Rand  io.Reader // of lock values and delays: crypto/rand. Safe for concurrent use; values that repeat break the lock
}

// Filled is the Runtime with the system's in the place of each nil field.
func (r Runtime) Filled() Runtime {
	if r.Clock == nil {
		r.Clock = SystemClock()
	}
	if r.Tasks == nil {
		r.Tasks = SystemTasks()
	}
	if r.Rand == nil {
		r.Rand = rand.Reader
	}
	return r
}

// Clock is the client's clock. It must be monotonic: a wall clock that steps back while a lock is held makes the client believe
// in it for too long.
type Clock interface {
	// Now reads the clock.
	Now() time.Time

	// AfterFunc calls f after d, unless the timer is stopped first. f does not block. It may run on its own goroutine, but not
	// before AfterFunc has returned.
	AfterFunc(d time.Duration, f func()) Timer

	// WithCancel derives a context that ends when cancel is called, with the cause given there, or when parent ends.
	WithCancel(parent context.Context) (ctx context.Context, cancel context.CancelCauseFunc)

	// WithDeadline derives a context that ends when the clock reads t, cancel is called, or parent ends.
	WithDeadline(parent context.Context, t time.Time) (ctx context.Context, cancel context.CancelFunc)
}

// Timer is a call that AfterFunc has scheduled.
type Timer interface {
	// Stop prevents the call and reports whether it did: false means that the call has begun or was stopped before.
	Stop() bool

	// Reset schedules the call for d from now, whether or not it has happened or was stopped.
	Reset(d time.Duration)
}

// Tasks starts goroutines and lets them wait for each other.
type Tasks interface {
	// Start runs f on a goroutine of its own.
	Start(f func())

	// NewWaiter returns a place where one goroutine at a time can wait.
	NewWaiter() Waiter
}

// Waiter lets one goroutine wait for others. A Wake while nobody waits is kept for the next Wait; several count as one.
type Waiter interface {
	// Wait returns after a Wake or when ctx is done, whichever comes first. The caller checks which.
	Wait(ctx context.Context)

	// Wake lets the waiting goroutine go on. It never blocks.
	Wake()
}

// TokenSource gives fencing tokens that do not come from the nodes, for redlock.WithTokens.
type TokenSource interface {
	// Token returns a positive number that is higher than every number that it has returned before for any of the resources, to
	// any client, and it does so durably: a database's sequence, or the revision of a write to etcd or ZooKeeper. It must not
	// change the resources, and gives up when ctx ends.
	Token(ctx context.Context, resources []string) (int64, error)
}
