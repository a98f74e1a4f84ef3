//go:build linux

package client

import (
	"context"
	"errors"
	"sync"
	"time"

	"redlocksim/internal/faketime"
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
)

// clock is the clock that a client measures validity with, and how the parent understands its readings.
type clock interface {
	driver.Clock
	// IsSystem says that it reads what driver.SystemClock does.
	IsSystem() bool
	// Reading is t as the parent understands it: CLOCK_MONOTONIC plus how far the clock is ahead of it.
	Reading(t time.Time) int64
	// Wall reads the wall clock of the same process.
	Wall() time.Time
}

// newClock is the clock of a client: that of production, unless there is a file of clocks.
func newClock(path string, kind kernel.ClockKind) (clock, error) {
	if path == "" {
		return systemClock{driver.SystemClock(), faketime.NewAnchor()}, nil
	}
	c, err := faketime.Open(path)
	if err != nil {
		return nil, err
	}
	return &changeable{c, kind}, nil
}

// systemClock is the clock of a client that no fault changes.
type systemClock struct {
	driver.Clock
	anchor faketime.Anchor
}

func (systemClock) IsSystem() bool              { return true }
func (c systemClock) Reading(t time.Time) int64 { return c.anchor.MachineTime(t) }
func (systemClock) Wall() time.Time             { return time.Now() }

// changeable is a clock that the parent can change. Its timers go by the monotonic clock of the process, as Go's do, whichever
// clock it reads; sockets time out by the machine's clock.
type changeable struct {
	clocks *faketime.Clocks
	kind   kernel.ClockKind
}

// SkewOf is one of a process's clocks.
func SkewOf(c *faketime.Clocks, kind kernel.ClockKind) faketime.Skew {
	switch kind {
	case kernel.Monotonic:
		return c.Monotonic()
	case kernel.WallClock:
		return c.Wall()
	default:
		return c.Boottime()
	}
}

func (c *changeable) Now() time.Time {
	return time.Unix(0, SkewOf(c.clocks, c.kind).Read(faketime.MachineTime()))
}

func (c *changeable) Reading(t time.Time) int64 { return t.UnixNano() }

func (*changeable) IsSystem() bool { return false }

func (c *changeable) Wall() time.Time { return c.clocks.WallNow() }

// due is what the monotonic clock of the process reads in d, or Never if that overflows.
func (c *changeable) due(d time.Duration) int64 {
	now := c.clocks.Monotonic().Read(faketime.MachineTime())
	if d > 0 && now > faketime.Never-int64(d) {
		return faketime.Never
	}
	return now + int64(d)
}

// until is how long it takes until that clock reads due, if it is not changed again.
func (c *changeable) until(due int64) time.Duration {
	return time.Duration(c.clocks.Monotonic().When(due) - faketime.MachineTime())
}

func (c *changeable) AfterFunc(d time.Duration, f func()) driver.Timer {
	t := &timer{clock: c, f: f}
	t.Reset(d)
	return t
}

func (c *changeable) WithCancel(parent context.Context) (context.Context, context.CancelCauseFunc) {
	return context.WithCancelCause(parent)
}

func (c *changeable) WithDeadline(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
	inner, cancel := context.WithCancelCause(parent)
	ctx := &deadlineContext{Context: inner, clock: c, deadline: t, done: make(chan struct{})}
	context.AfterFunc(inner, func() { close(ctx.done) })
	timer := c.AfterFunc(t.Sub(c.Now()), func() { cancel(context.DeadlineExceeded) })
	return ctx, func() {
		timer.Stop()
		cancel(context.Canceled)
	}
}

// often is how often a timer looks whether it is due, as its clock may be changed at any time.
const often = time.Millisecond

// timer implements driver.Timer.
type timer struct {
	clock *changeable
	f     func()

	mu    sync.Mutex
	isSet bool
	due   int64 // by the monotonic clock of the process
	round int   // counts how often it was set, to tell who looks for another setting
}

func (t *timer) Reset(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.isSet, t.due = true, t.clock.due(max(d, 0))
	t.round++
	t.lookSoon(t.round)
}

func (t *timer) Stop() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.isSet
	t.isSet = false
	return was
}

// lookSoon has the timer look whether it is due, as long as it is set as it was in that round.
func (t *timer) lookSoon(round int) {
	time.AfterFunc(min(t.clock.until(t.due), often), func() {
		t.mu.Lock()
		isDue := false
		if t.isSet && t.round == round {
			if isDue = t.clock.until(t.due) <= 0; isDue {
				t.isSet = false
			} else {
				t.lookSoon(round)
			}
		}
		t.mu.Unlock()
		if isDue {
			t.f()
		}
	})
}

// deadlineContext ends when its clock reads deadline. Contexts derived from it see why, as it has a channel of its own: a
// context of the standard library would say that it was cancelled.
type deadlineContext struct {
	context.Context // ends with it, or before it
	clock           *changeable
	deadline        time.Time
	done            chan struct{}
}

func (c *deadlineContext) Done() <-chan struct{} { return c.done }

func (c *deadlineContext) Err() error {
	select {
	case <-c.done:
		if errors.Is(context.Cause(c.Context), context.DeadlineExceeded) {
			return context.DeadlineExceeded
		}
		return c.Context.Err()
	default:
		return nil
	}
}

// Deadline is when the context ends by the machine's clock, if this clock is not changed again.
func (c *deadlineContext) Deadline() (time.Time, bool) {
	until := time.Now().Add(c.clock.until(c.clock.due(c.deadline.Sub(c.clock.Now()))))
	if d, ok := c.Context.Deadline(); ok && d.Before(until) {
		return d, true
	}
	return until, true
}
