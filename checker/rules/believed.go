package rules

import (
	"redlocksim/checker"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// believed compares the moment at which a client's belief runs out, up to which the checkers judge it, with the end of the
// lease as its holder reads it: a lock that does not tell how long it is believed in would be judged for less than it
// promises.
type believed struct {
	run    *Run
	leases map[int]protocols.Lease // by the acquire
}

func watchBelieved(r *Run) {
	if r.Foreign || r.StepTime > 0 {
		return
	}
	x := &believed{run: r, leases: map[int]protocols.Lease{}}
	r.onReturn(x.returned)
	r.onEvent(x.saw)
}

func (x *believed) returned(c *protocols.Call, err error) {
	for _, acquire := range c.Grants {
		switch {
		case c.Func == protocols.AcquireCall && err == nil:
			x.leases[acquire] = c.Lease
		case c.Func == protocols.ReleaseCall:
			delete(x.leases, acquire)
		}
	}
}

// saw judges a belief that runs out. One that ends otherwise says why.
func (x *believed) saw(e *history.Event) {
	l := x.leases[e.Grant]
	if l == nil || e.Kind != history.Expire || e.Detail != "" {
		return
	}
	delete(x.leases, e.Grant)
	x.run.Judged[checker.JudgeBelieved]++
	early := l.Until().Sub(x.run.World.Client(e.Process).ProgramClock().Now())
	switch {
	case early > rounding:
		x.run.broken(checker.Contract, e.Resource, "%s's belief in its lease runs out %v before the lease does", e.Process, early)
	case early < -slack && x.run.Lock.Clock == kernel.Monotonic: // no other moves on at a stroke
		x.run.broken(checker.Contract, e.Resource, "%s believes in its lease for %v after it has run out", e.Process, -early)
	}
}
