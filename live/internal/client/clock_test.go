//go:build linux

package client

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"redlocksim/internal/faketime"
	"redlocksim/internal/stall/retry"
	"redlocksim/live/internal/livetest"
	"redlocksim/sim/kernel"
)

// changeableClockOf is a lock clock, and the clocks behind it as the parent has them.
func changeableClockOf(t testing.TB, kind kernel.ClockKind) (clock, *faketime.Clocks) {
	t.Helper()
	parent, err := faketime.New(filepath.Join(t.TempDir(), "clocks"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = parent.Close() })
	c, err := newClock(parent.Path(), kind)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.(*changeable).clocks.Close() })
	return c, parent
}

const (
	length = 400 * time.Millisecond
	// slack is how late a timer may be on a machine that is busy; none may be early.
	slack = 150 * time.Millisecond
)

// What a client reads of its clock, and when its timers come, after its parent has done this to its clocks; in the time of
// the machine.
func TestChangedClock(t *testing.T) {
	// This process is not stopped meanwhile, but none of its timers is due.
	suspend := func(c *faketime.Clocks, length time.Duration) int64 {
		c.Suspend()
		time.Sleep(length / 2)
		return c.Wake()
	}
	for _, test := range []struct {
		name  string
		kind  kernel.ClockKind
		turn  func(c *faketime.Clocks, length time.Duration) int64
		reads time.Duration // that the clock is ahead of the machine's, length after the turn began
		fires time.Duration // after the turn began, a timer that was set for length just before it
	}{
		{"nothing", kernel.Monotonic, func(c *faketime.Clocks, _ time.Duration) int64 { return c.Step(0) }, 0, length},
		{"half as fast", kernel.Monotonic, func(c *faketime.Clocks, _ time.Duration) int64 { return c.SetRate(-faketime.Billion / 2) }, -length / 2, 2 * length},
		{"twice as fast", kernel.Monotonic, func(c *faketime.Clocks, _ time.Duration) int64 { return c.SetRate(faketime.Billion) }, length, length / 2},
		{"a wall clock, twice as fast", kernel.WallClock, func(c *faketime.Clocks, _ time.Duration) int64 { return c.SetRate(faketime.Billion) }, length, length / 2},
		{"a step of the wall clock", kernel.WallClock, func(c *faketime.Clocks, _ time.Duration) int64 { return c.Step(-time.Hour) }, -time.Hour, length},
		{"a step, which a monotonic clock does not make", kernel.Monotonic, func(c *faketime.Clocks, _ time.Duration) int64 { return c.Step(time.Hour) }, 0, length},
		{"nor one that counts suspension", kernel.Boottime, func(c *faketime.Clocks, _ time.Duration) int64 { return c.Step(time.Hour) }, 0, length},
		{"suspension", kernel.Monotonic, suspend, -length / 2, length * 3 / 2},
		{"suspension, which another clock counts", kernel.Boottime, suspend, 0, length * 3 / 2},
		{"suspension, which the wall clock counts", kernel.WallClock, suspend, 0, length * 3 / 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			retry.Test(t, livetest.Disturbing, func(t *retry.T) {
				length, slack, fires, reads := length*t.Slower, slack*t.Slower, test.fires*t.Slower, test.reads
				if reads > -time.Hour {
					reads *= t.Slower
				}
				c, parent := changeableClockOf(t, test.kind)
				fired := make(chan int64, 2)
				start := faketime.MachineTime()
				c.AfterFunc(length, func() { fired <- faketime.MachineTime() })
				ctx, cancel := c.WithDeadline(t.Context(), c.Now().Add(length))
				defer cancel()
				child, _ := c.WithCancel(ctx)
				ended := make(chan int64, 1)
				context.AfterFunc(child, func() { ended <- faketime.MachineTime() })
				// Held up before the turn, the timer has less of its length left to be stretched.
				early := time.Millisecond + min(time.Duration(test.turn(parent, length)-start), slack)
				for faketime.MachineTime() < start+int64(length) {
					time.Sleep(time.Millisecond)
				}
				// Between two readings of the machine's clock, as this process may be held up anywhere.
				before := faketime.MachineTime()
				read := c.Reading(c.Now())
				after := faketime.MachineTime()
				grow := int64(slack) // what a fast clock gains while this process is held up
				if ahead := int64(reads); read < before+ahead-grow || read > after+ahead+grow {
					t.Errorf("it is ahead by %v, want %v", time.Duration(read-before), reads)
				}
				if l := SkewOf(parent, test.kind); l.Read(before) > read || l.Read(after) < read {
					t.Errorf("it reads %d, and its parent thinks between %d and %d", read, l.Read(before), l.Read(after))
				}
				if took := time.Duration(<-fired - start); took < fires-early || took > fires+slack {
					t.Errorf("the timer came after %v, want %v", took, fires)
				}
				if took := time.Duration(<-ended - start); took < fires-early || took > fires+slack {
					t.Errorf("the context ended after %v, want %v", took, fires)
				}
				if !errors.Is(ctx.Err(), context.DeadlineExceeded) || !errors.Is(child.Err(), context.DeadlineExceeded) {
					t.Errorf("it ended with %v, and what derives from it with %v", ctx.Err(), child.Err())
				}
			})
		})
	}
}

// A timer can be stopped and set anew, and contexts end with their parents.
func TestTimersOfAChangedClock(t *testing.T) {
	c, parent := changeableClockOf(t, kernel.Monotonic)
	parent.SetRate(faketime.Billion)
	fired := make(chan string, 10)
	stopped := c.AfterFunc(length, func() { fired <- "stopped" })
	if !stopped.Stop() || stopped.Stop() {
		t.Error("a timer is stopped once")
	}
	reset := c.AfterFunc(time.Hour, func() { fired <- "reset" })
	reset.Reset(0)
	if got := <-fired; got != "reset" || reset.Stop() {
		t.Errorf("%s came first", got)
	}
	stopped.Reset(0)
	if got := <-fired; got != "stopped" {
		t.Errorf("%s came second", got)
	}
	far := c.AfterFunc(1<<63-1, func() { fired <- "far" })
	defer far.Stop()

	above, cancel := context.WithCancel(t.Context())
	ctx, end := c.WithDeadline(above, c.Now().Add(time.Hour))
	defer end()
	if d, ok := ctx.Deadline(); !ok || time.Until(d) < 29*time.Minute || time.Until(d) > 30*time.Minute {
		t.Errorf("an hour of a clock that is twice as fast ends in %v", time.Until(d))
	}
	if err := ctx.Err(); err != nil {
		t.Errorf("it has ended: %v", err)
	}
	cancel()
	<-ctx.Done()
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Errorf("it ended with %v", ctx.Err())
	}
	select {
	case got := <-fired:
		t.Errorf("%s came again", got)
	case <-time.After(50 * time.Millisecond):
	}
}
