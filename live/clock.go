//go:build linux

package live

import (
	"context"
	"errors"
	"sync"
	"time"

	"redlocksim/internal/faketime"
	"redlocksim/redlock/driver"
	"redlocksim/sim"
)

// lockClock is the clock that a client measures validity with, and how the parent understands its readings.
type lockClock interface {
	driver.Clock
	// reading is t as the parent knows the clock: CLOCK_MONOTONIC, and by how much the clock is ahead of it.
	reading(t time.Time) int64
	// wall reads the wall clock of the same process.
	wall() time.Time
	// turned has the timers follow what has just been done to the clocks.
	turned()
}

// monotonic is the clock of production.
type monotonic struct {
	driver.Clock
	anchor faketime.Anchor
}

func newMonotonic() lockClock { return monotonic{driver.SystemClock(), faketime.NewAnchor()} }

func (c monotonic) reading(t time.Time) int64 { return c.anchor.MachineTime(t) }
func (monotonic) wall() time.Time             { return time.Now() }
func (monotonic) turned()                     {}

// newLockClock is the lock clock of a client, which is the one of production unless there is a file of clocks.
func newLockClock(path string, kind sim.ClockKind) (lockClock, error) {
	if path == "" {
		return newMonotonic(), nil
	}
	c, err := faketime.Open(path)
	if err != nil {
		return nil, err
	}
	return &turnable{clocks: c, kind: kind, timers: map[*turnableTimer]struct{}{}}, nil
}

// turnable is a clock that faults can touch: it reads what the parent makes of the machine's. Timers go by the monotonic
// clock of the process, as Go's do, whichever of its clocks this is; what waits for a socket goes by the machine's.
type turnable struct {
	clocks *faketime.Clocks
	kind   sim.ClockKind

	mu     sync.Mutex
	timers map[*turnableTimer]struct{} // that are set
}

func (c *turnable) Now() time.Time {
	return time.Unix(0, skewOf(c.clocks, c.kind).Read(faketime.MachineTime()))
}

func (c *turnable) reading(t time.Time) int64 { return t.UnixNano() }

func (c *turnable) wall() time.Time { return c.clocks.WallNow() }

func (c *turnable) AfterFunc(d time.Duration, f func()) driver.Timer {
	t := &turnableTimer{clock: c, f: f}
	t.Reset(d)
	return t
}

func (c *turnable) WithCancel(parent context.Context) (context.Context, context.CancelCauseFunc) {
	return context.WithCancelCause(parent)
}

func (c *turnable) WithDeadline(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
	inner, cancel := context.WithCancelCause(parent)
	ctx := &turnableContext{Context: inner, clock: c, until: t, done: make(chan struct{})}
	context.AfterFunc(inner, func() { close(ctx.done) })
	timer := c.AfterFunc(t.Sub(c.Now()), func() { cancel(context.DeadlineExceeded) })
	return ctx, func() {
		timer.Stop()
		cancel(context.Canceled)
	}
}

func (c *turnable) turned() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for t := range c.timers {
		t.timer.Stop()
		t.set()
	}
}

// skewOf is one of a process's clocks.
func skewOf(c *faketime.Clocks, kind sim.ClockKind) faketime.Skew {
	switch kind {
	case sim.Monotonic:
		return c.Monotonic()
	case sim.WallClock:
		return c.Wall()
	default:
		return c.Boottime()
	}
}

// plus is the reading d after r, or Never if that overflows.
func plus(r, d int64) int64 {
	if d > 0 && r > faketime.Never-d {
		return faketime.Never
	}
	return r + d
}

// turnableTimer implements driver.Timer. The runtime wakes it when its time should have come; if the clock was slowed down
// or stood still meanwhile, it waits on.
type turnableTimer struct {
	clock *turnable
	f     func()

	// Under the clock's mu:
	due   int64 // by the monotonic clock
	timer *time.Timer
	round int // counts the times it was set: one that is late may have been set anew
}

// set has the runtime wake the timer.
func (t *turnableTimer) set() {
	t.round++
	round := t.round
	t.timer = time.AfterFunc(time.Duration(t.clock.clocks.Monotonic().When(t.due)-faketime.MachineTime()), func() { t.fire(round) })
}

func (t *turnableTimer) fire(round int) {
	c := t.clock
	c.mu.Lock()
	if _, isSet := c.timers[t]; !isSet || round != t.round {
		c.mu.Unlock()
		return
	}
	if c.clocks.Monotonic().Read(faketime.MachineTime()) < t.due {
		t.set()
		c.mu.Unlock()
		return
	}
	delete(c.timers, t)
	c.mu.Unlock()
	t.f()
}

func (t *turnableTimer) Stop() bool {
	c := t.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	return t.stop()
}

func (t *turnableTimer) stop() bool {
	_, isSet := t.clock.timers[t]
	if isSet {
		delete(t.clock.timers, t)
		t.timer.Stop()
	}
	return isSet
}

func (t *turnableTimer) Reset(d time.Duration) {
	c := t.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	t.stop()
	t.due = plus(c.clocks.Monotonic().Read(faketime.MachineTime()), int64(max(d, 0)))
	c.timers[t] = struct{}{}
	t.set()
}

// turnableContext ends when its clock reads until. What derives from it sees why it ended, as it has a channel of its own:
// a context of the standard library would say that it was cancelled.
type turnableContext struct {
	context.Context // ends with it, or before it
	clock           *turnable
	until           time.Time
	done            chan struct{}
}

func (c *turnableContext) Done() <-chan struct{} { return c.done }

func (c *turnableContext) Err() error {
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

// Deadline is when the context ends by the machine's clock, if nothing is done to this one any more.
func (c *turnableContext) Deadline() (time.Time, bool) {
	left := c.until.Sub(c.clock.Now())
	now := faketime.MachineTime()
	mono := c.clock.clocks.Monotonic()
	until := time.Now().Add(time.Duration(mono.When(plus(mono.Read(now), int64(left))) - now))
	if d, ok := c.Context.Deadline(); ok && d.Before(until) {
		return d, true
	}
	return until, true
}
