//go:build linux

// Package lockclock is the clock of a client process: the machine's, or one that the parent of the process can change.
package lockclock

import (
	"time"

	"redlocksim/internal/faketime"
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
)

// Clock is the clock that a client measures validity with, and how the parent understands its readings.
type Clock interface {
	driver.Clock
	// IsSystem says that it reads what driver.SystemClock does.
	IsSystem() bool
	// Reading is t as the parent understands it: CLOCK_MONOTONIC plus how far the clock is ahead of it.
	Reading(t time.Time) int64
	// Wall reads the wall clock of the same process.
	Wall() time.Time
	// Rearm adapts the timers to a change of the clocks.
	Rearm()
}

// monotonic is the clock of a client in production.
type monotonic struct {
	driver.Clock
	anchor faketime.Anchor
}

// NewMonotonic is the clock of a client that no fault changes.
func NewMonotonic() Clock { return monotonic{driver.SystemClock(), faketime.NewAnchor()} }

func (monotonic) IsSystem() bool              { return true }
func (c monotonic) Reading(t time.Time) int64 { return c.anchor.MachineTime(t) }
func (monotonic) Wall() time.Time             { return time.Now() }
func (monotonic) Rearm()                      {}

// New is the lock clock of a client: that of production, unless there is a file of clocks.
func New(path string, kind kernel.ClockKind) (Clock, error) {
	if path == "" {
		return NewMonotonic(), nil
	}
	c, err := faketime.Open(path)
	if err != nil {
		return nil, err
	}
	return &changeable{clocks: c, kind: kind, timers: map[*timer]struct{}{}}, nil
}
