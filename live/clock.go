//go:build linux

package live

import (
	"time"

	"redlocksim/internal/faketime"
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
)

// lockClock is the clock that a client measures validity with, and how the parent understands its readings.
type lockClock interface {
	driver.Clock
	// reading is t as the parent understands it: CLOCK_MONOTONIC plus how far the clock is ahead of it.
	reading(t time.Time) int64
	// wall reads the wall clock of the same process.
	wall() time.Time
	// rearm adapts the timers to a change of the clocks.
	rearm()
}

// monotonic is the clock of a client in production.
type monotonic struct {
	driver.Clock
	anchor faketime.Anchor
}

func newMonotonic() lockClock { return monotonic{driver.SystemClock(), faketime.NewAnchor()} }

func (c monotonic) reading(t time.Time) int64 { return c.anchor.MachineTime(t) }
func (monotonic) wall() time.Time             { return time.Now() }
func (monotonic) rearm()                      {}

// newLockClock is the lock clock of a client: that of production, unless there is a file of clocks.
func newLockClock(path string, kind kernel.ClockKind) (lockClock, error) {
	if path == "" {
		return newMonotonic(), nil
	}
	c, err := faketime.Open(path)
	if err != nil {
		return nil, err
	}
	return &changeableClock{clocks: c, kind: kind, timers: map[*changeableTimer]struct{}{}}, nil
}
