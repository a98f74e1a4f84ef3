//go:build linux

package lockclock

import (
	"context"
	"errors"
	"sync"
	"time"

	"redlocksim/internal/faketime"
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
)

// changeable is a lock clock that faults can change. Its timers go by the monotonic clock of the process, as Go's do,
// whichever clock it reads; sockets time out by the machine's clock.
type changeable struct {
	clocks *faketime.Clocks
	kind   kernel.ClockKind

	mu     sync.Mutex
	timers map[*timer]struct{} // that are set
}

func (c *changeable) Now() time.Time {
	return time.Unix(0, SkewOf(c.clocks, c.kind).Read(faketime.MachineTime()))
}

func (c *changeable) Reading(t time.Time) int64 { return t.UnixNano() }

func (*changeable) IsSystem() bool { return false }

func (c *changeable) Wall() time.Time { return c.clocks.WallNow() }

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
	ctx := &deadlineContext{Context: inner, clock: c, until: t, done: make(chan struct{})}
	context.AfterFunc(inner, func() { close(ctx.done) })
	timer := c.AfterFunc(t.Sub(c.Now()), func() { cancel(context.DeadlineExceeded) })
	return ctx, func() {
		timer.Stop()
		cancel(context.Canceled)
	}
}

func (c *changeable) Rearm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for t := range c.timers {
		t.timer.Stop()
		t.set()
	}
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

// plus is the reading d after r, or Never if that overflows.
func plus(r, d int64) int64 {
	if d > 0 && r > faketime.Never-d {
		return faketime.Never
	}
	return r + d
}

// timer implements driver.Timer. The runtime wakes it when it should be due; if the clock was slowed down or stood
// still meanwhile, it waits on.
type timer struct {
	clock *changeable
	f     func()

	// Under the clock's mu:
	due   int64 // by the monotonic clock
	timer *time.Timer
	round int // counts how often it was set, to tell a late call from one for the current setting
}

// set has the runtime wake the timer.
func (t *timer) set() {
	t.round++
	round := t.round
	wait := t.clock.clocks.Monotonic().When(t.due) - faketime.MachineTime()
	t.timer = time.AfterFunc(time.Duration(wait), func() { t.fire(round) })
}

func (t *timer) fire(round int) {
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

func (t *timer) Stop() bool {
	c := t.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	return t.stop()
}

func (t *timer) stop() bool {
	_, isSet := t.clock.timers[t]
	if isSet {
		delete(t.clock.timers, t)
		t.timer.Stop()
	}
	return isSet
}

func (t *timer) Reset(d time.Duration) {
	c := t.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	t.stop()
	t.due = plus(c.clocks.Monotonic().Read(faketime.MachineTime()), int64(max(d, 0)))
	c.timers[t] = struct{}{}
	t.set()
}

// deadlineContext ends when its clock reads until. Contexts derived from it see why, as it has a channel of its own: a
// context of the standard library would say that it was cancelled.
type deadlineContext struct {
	context.Context // ends with it, or before it
	clock           *changeable
	until           time.Time
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
	left := c.until.Sub(c.clock.Now())
	now := faketime.MachineTime()
	mono := c.clock.clocks.Monotonic()
	until := time.Now().Add(time.Duration(mono.When(plus(mono.Read(now), int64(left))) - now))
	if d, ok := c.Context.Deadline(); ok && d.Before(until) {
		return d, true
	}
	return until, true
}
