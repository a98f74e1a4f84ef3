//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"redlocksim/redlock/driver"
	"redlocksim/sim"
)

// trueTime reads CLOCK_MONOTONIC in nanoseconds, which all processes of the machine share.
func trueTime() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(fmt.Sprintf("live: CLOCK_MONOTONIC: %v", err)) // every Linux has it
	}
	return ts.Nano()
}

// anchor is one moment by Go's clock and by CLOCK_MONOTONIC, which run alike: it turns readings of the one into the other.
type anchor struct {
	moment time.Time
	mono   int64
}

// newAnchor takes the tightest of some pairs of readings, as the process may be interrupted between two.
func newAnchor() anchor {
	var best anchor
	width := int64(1<<63 - 1)
	for range 1000 {
		before := trueTime()
		moment := time.Now()
		if after := trueTime(); after-before < width {
			width = after - before
			best = anchor{moment, before + width/2}
		}
	}
	return best
}

func (a anchor) of(t time.Time) int64 { return a.mono + int64(t.Sub(a.moment)) }

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
	anchor anchor
}

func newMonotonic() lockClock { return monotonic{driver.SystemClock(), newAnchor()} }

func (c monotonic) reading(t time.Time) int64 { return c.anchor.of(t) }
func (monotonic) wall() time.Time             { return time.Now() }
func (monotonic) turned()                     {}

// newLockClock is the lock clock of a client, which is the one of production unless there is a file of clocks.
func newLockClock(path string, kind sim.ClockKind) (lockClock, error) {
	if path == "" {
		return newMonotonic(), nil
	}
	c, err := openClocks(path)
	if err != nil {
		return nil, err
	}
	return &turnable{clocks: c, kind: kind, timers: map[*turnableTimer]struct{}{}}, nil
}

// turnable is a clock that faults can touch: it reads what the parent makes of the machine's. Timers go by the monotonic
// clock of the process, as Go's do, whichever of its clocks this is; what waits for a socket goes by the machine's.
type turnable struct {
	clocks *clocks
	kind   sim.ClockKind

	mu     sync.Mutex
	timers map[*turnableTimer]struct{} // that are set
}

func (c *turnable) Now() time.Time {
	return time.Unix(0, c.clocks.state().line(c.kind).read(trueTime()))
}

func (c *turnable) reading(t time.Time) int64 { return t.UnixNano() }

func (c *turnable) wall() time.Time { return time.Unix(0, c.clocks.wall()) }

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

// mono is the line of the monotonic clock.
func (c *turnable) mono() line { return c.clocks.state().line(sim.Monotonic) }

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
	t.timer = time.AfterFunc(time.Duration(t.clock.mono().when(t.due)-trueTime()), func() { t.fire(round) })
}

func (t *turnableTimer) fire(round int) {
	c := t.clock
	c.mu.Lock()
	if _, isSet := c.timers[t]; !isSet || round != t.round {
		c.mu.Unlock()
		return
	}
	if c.mono().read(trueTime()) < t.due {
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
	t.due = plus(c.mono().read(trueTime()), int64(max(d, 0)))
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
	now := trueTime()
	mono := c.clock.mono()
	until := time.Now().Add(time.Duration(mono.when(plus(mono.read(now), int64(left))) - now))
	if d, ok := c.Context.Deadline(); ok && d.Before(until) {
		return d, true
	}
	return until, true
}
