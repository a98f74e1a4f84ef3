package rules

import (
	"slices"
	"time"

	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// standstills remembers when clients and nodes stood still or were down.
type standstills map[*kernel.Process][]stretch // in order

// stretch is of true time. That of what has not ended yet, as of a client that has crashed, goes on forever.
type stretch struct{ from, to kernel.True }

func watchStandstills(r *Run) standstills {
	p := standstills{}
	look := func(x *kernel.Process, still bool) {
		of := p[x]
		switch isStill := len(of) > 0 && of[len(of)-1].to == kernel.Forever; {
		case still && !isStill:
			p[x] = append(of, stretch{r.World.Kernel.Now(), kernel.Forever})
		case !still && isStill:
			of[len(of)-1].to = r.World.Kernel.Now()
		}
	}
	looks := func() {
		for _, c := range r.World.Clients {
			look(c, c.Paused() || c.Dead())
		}
		for _, s := range r.World.Servers {
			look(s.Process, s.Paused() || !s.Up())
		}
	}
	trace.On(r.World.Events, func(kernel.StateChanged) { looks() })
	trace.On(r.World.Events, func(redis.ServerChanged) { looks() })
	return p
}

// hasRun says whether a client or node has run since a true time without a pause, and does so still. What it was to do at the
// moment at which it went on it may not have done yet.
func (p standstills) hasRun(x *kernel.Process, since kernel.True) bool {
	return p.ran(x, stretch{since, kernel.Forever})
}

// ran says whether a client or node ran without a pause, as far as the stretch is past.
func (p standstills) ran(x *kernel.Process, through stretch) bool {
	return !slices.ContainsFunc(p[x], func(s stretch) bool { return s.to >= through.from && s.from <= through.to })
}

// clock is what the code of a client reads on its clock.
func (r *Run) clock(client string) time.Time { return r.World.Client(client).ProgramClock().Now() }

// step is the longest time that the code of a client takes from one step to the next, by its clock, which may be fast.
func (r *Run) step(client *kernel.Process) time.Duration {
	rate := time.Duration(client.Clock().Rate())
	return r.StepTime + r.StepTime/1000*max(0, rate)/1_000_000
}

// mustRead says whether a client to which an answer comes now reads it before a deadline of its clock for certain: where code
// takes time, one near the deadline may come too late. A round has a deadline for all its nodes, and asks them one after the
// other.
func (r *Run) mustRead(client *kernel.Process, deadline time.Time) bool {
	return !deadline.IsZero() && client.ProgramClock().Now().Sub(deadline) < -time.Duration(2*len(r.World.Servers))*r.StepTime
}
