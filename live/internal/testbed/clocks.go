//go:build linux

package testbed

import (
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/faketime"

	"redlocksim/live/internal/lockclock"
	"redlocksim/live/internal/messages"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// clocksOf are the clocks of a client or node.
func (g ground) clocksOf(process string) *faketime.Clocks {
	if s := g.ServerNamed(process); s != nil {
		return s.Clocks
	}
	return g.ClientNamed(process).Clocks
}

// clocksChanged notifies everything that goes by a process's clocks of a change at that reading of CLOCK_MONOTONIC: the client,
// the record, and what waits for a node's clock.
func (g ground) clocksChanged(at int64, process string) {
	if c := g.ClientNamed(process); c != nil {
		l := lockclock.SkewOf(c.Clocks, c.Kind)
		g.take(Entry{At: at, Process: process, Clock: &l})
		if c.IsUp() {
			c.Send(messages.Order{ClocksChanged: true})
		}
		return
	}
	for _, wait := range slices.Clone(g.byWall[process]) {
		g.When(faketime.MachineTime(), wait.look)
	}
}

func (g ground) StepClock(process string, by time.Duration) (matters bool) {
	matters = true
	if s := g.ServerNamed(process); s != nil && s.Kind.IsRedis && s.IsUp() && !s.Paused && g.groupOf(process) == nil {
		known, err := s.Dump()
		matters = g.failing(err) != nil || slices.ContainsFunc(known, func(r redis.Record) bool {
			return faults.Moves(r, kernel.Wall(s.Wall()*int64(time.Millisecond)), by/time.Duration(g.Speed))
		})
	}
	g.clocksChanged(g.clocksOf(process).Step(by/time.Duration(g.Speed)), process)
	return matters
}

func (g ground) SetClockRate(process string, ppb int64) {
	g.clocksChanged(g.clocksOf(process).SetRate(ppb), process)
}

// AfterWall implements faults.Clocks. A server that is down is supervised by its machine's clock.
func (g ground) AfterWall(node string, d time.Duration, f func()) {
	s, wait := g.ServerNamed(node), new(wallWait)
	at := s.Clocks.WallNow().Add(d / time.Duration(g.Speed))
	var next *Moment
	wait.look = func() {
		g.Drop(next)
		if s.Clocks.WallNow().Before(at) {
			next = g.When(s.Clocks.WhenWall(at), wait.look)
			return
		}
		if i := slices.Index(g.byWall[node], wait); i >= 0 {
			g.byWall[node] = slices.Delete(g.byWall[node], i, i+1)
			f()
		}
	}
	g.byWall[node] = append(g.byWall[node], wait)
	wait.look()
}
