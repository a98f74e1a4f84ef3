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

// wallWait waits for a reading of a node's wall clock.
type wallWait struct{ look func() }

// clocksOf are the clocks of a client or node.
func (r *run) clocksOf(process string) *faketime.Clocks {
	if s := r.serverNamed(process); s != nil {
		return s.Clocks
	}
	return r.clientNamed(process).clocks
}

// clocksChanged tells the record, and what waits for a node's clock, of a change at that reading of CLOCK_MONOTONIC.
func (r *run) clocksChanged(at int64, process string) {
	if c := r.clientNamed(process); c != nil {
		l := client.SkewOf(c.clocks, c.kind)
		r.entries = append(r.entries, entry{at: at, process: process, clock: &l})
		return
	}
	for _, wait := range slices.Clone(r.byWall[process]) {
		r.when(faketime.MachineTime(), wait.look)
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

// AfterWall implements faults.Ground. A server that is down is supervised by its machine's clock.
func (r *run) AfterWall(node string, d time.Duration, f func()) {
	clocks, wait := r.serverNamed(node).Clocks, new(wallWait)
	at := clocks.WallNow().Add(d / time.Duration(r.speed))
	var next *moment
	wait.look = func() {
		r.drop(next)
		if clocks.WallNow().Before(at) {
			next = r.when(clocks.WhenWall(at), wait.look)
			return
		}
		if i := slices.Index(r.byWall[node], wait); i >= 0 {
			r.byWall[node] = slices.Delete(r.byWall[node], i, i+1)
			f()
		}
	}
	r.byWall[node] = append(r.byWall[node], wait)
	wait.look()
}
