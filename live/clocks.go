//go:build linux

package live

import (
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/faketime"
	"redlocksim/live/internal/client"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// clocksOf are the clocks of a client or node.
func (r *run) clocksOf(process string) *faketime.Clocks {
	if s := r.serverNamed(process); s != nil {
		return s.Clocks
	}
	return r.clientNamed(process).clocks
}

// clocksChanged takes down that the clocks of a client were changed at that reading of CLOCK_MONOTONIC.
func (r *run) clocksChanged(at int64, process string) {
	if c := r.clientNamed(process); c != nil {
		l := client.SkewOf(c.clocks, c.kind)
		r.entries = append(r.entries, entry{at: at, process: process, clock: &l})
	}
}

// StepClock implements faults.Ground.
func (r *run) StepClock(process string, by time.Duration) (matters bool) {
	matters = true
	by /= time.Duration(r.speed)
	if s := r.serverNamed(process); s != nil && s.Kind.IsRedis && s.IsUp() && !s.Paused && r.groupOf(process) == nil {
		known, err := s.Dump()
		matters = r.fail(err) != nil || slices.ContainsFunc(known, func(k redis.Record) bool {
			return faults.Moves(k, kernel.Wall(s.Wall()*int64(time.Millisecond)), by)
		})
	}
	r.clocksChanged(r.clocksOf(process).Step(by), process)
	return matters
}

// SetClockRate implements faults.Ground.
func (r *run) SetClockRate(process string, ppb int64) {
	r.clocksChanged(r.clocksOf(process).SetRate(ppb), process)
}

// AfterWall implements faults.Ground. A server that is down is supervised by its machine's clock, which is looked at again and
// again, as it may be changed.
func (r *run) AfterWall(node string, d time.Duration, f func()) {
	clocks := r.serverNamed(node).Clocks
	at := clocks.WallNow().Add(d / time.Duration(r.speed))
	var look func()
	look = func() {
		if clocks.WallNow().Before(at) {
			r.when(faketime.MachineTime()+int64(time.Millisecond), look)
			return
		}
		f()
	}
	look()
}
