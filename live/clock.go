//go:build linux

package live

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"redlocksim/redlock"
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
	redlock.Clock
	// reading is t as CLOCK_MONOTONIC plus all steps of this clock so far.
	reading(t time.Time) int64
	// step moves the clock, and reports by how much it did: a monotonic one does not.
	step(by int64) int64
}

// monotonic is the clock of production.
type monotonic struct {
	redlock.Clock
	anchor anchor
}

func newMonotonic() lockClock { return monotonic{redlock.SystemClock(), newAnchor()} }

func (c monotonic) reading(t time.Time) int64 { return c.anchor.of(t) }
func (monotonic) step(int64) int64            { return 0 }

// wall is a clock that can be stepped. Timers go by the monotonic clock all the same, as Go's do.
type wall struct {
	redlock.Clock
	steps atomic.Int64
}

func newWall() lockClock { return &wall{Clock: redlock.SystemClock()} }

func (c *wall) Now() time.Time { return time.Unix(0, trueTime()+c.steps.Load()) }

func (c *wall) WithDeadline(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
	return context.WithTimeout(parent, t.Sub(c.Now()))
}

func (c *wall) reading(t time.Time) int64 { return t.UnixNano() }

func (c *wall) step(by int64) int64 {
	c.steps.Add(by)
	return by
}
