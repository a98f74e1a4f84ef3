package driver

import (
	"context"
	"time"
)

// SystemClock returns the operating system's monotonic clock. On Linux it stands still while the machine is suspended
// (CLOCK_MONOTONIC), and the nodes' clocks do not: Redlock does not tolerate a holder whose machine is suspended.
func SystemClock() Clock { return systemClock{} }

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) AfterFunc(d time.Duration, f func()) Timer {
	return systemTimer{time.AfterFunc(d, f)}
}

func (systemClock) WithCancel(parent context.Context) (context.Context, context.CancelCauseFunc) {
	return context.WithCancelCause(parent)
}

func (systemClock) WithDeadline(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
	return context.WithDeadline(parent, t)
}

type systemTimer struct{ *time.Timer }

func (t systemTimer) Reset(d time.Duration) { t.Timer.Reset(d) }

// SystemTasks returns plain goroutines and channels.
func SystemTasks() Tasks { return systemTasks{} }

type systemTasks struct{}

func (systemTasks) Start(f func()) { go f() }

func (systemTasks) NewWaiter() Waiter { return make(systemWaiter, 1) }

type systemWaiter chan struct{}

func (w systemWaiter) Wait(ctx context.Context) {
	select {
	case <-w:
	case <-ctx.Done():
	}
}

func (w systemWaiter) Wake() {
	select {
	case w <- struct{}{}:
	default:
	}
}
