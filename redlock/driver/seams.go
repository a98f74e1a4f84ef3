package driver

import (
	"context"
	"time"
)

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
