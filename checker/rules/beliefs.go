package rules

import (
	"redlocksim/checker"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

var beliefsRule = Rule{
	Name:  "beliefs",
	Kind:  checker.Contract,
	Needs: "a belief that ran out, and the end of its lease",
	Doc: `
A client's belief, by which it is judged, ends when its lock clock reads the end of the lease. (All locks, where code takes no
time.)`,
	New: watchBeliefs,
}

// beliefs compares the moment at which a client's belief runs out, up to which the checkers judge it, with the end of the
// lease as its holder reads it: a lock that does not tell how long it is believed in would be judged for less than it
// promises.
type beliefs struct {
	*watch
	leases map[int]protocols.Lease // by the acquire
}

func watchBeliefs(r *watch) {
	if r.Foreign || r.StepTime > 0 {
		return
	}
	x := &beliefs{watch: r, leases: map[int]protocols.Lease{}}
	r.onReturn(x.returned)
	r.onEvent(x.saw, history.Expire)
}

func (b *beliefs) returned(c *call, err error) {
	for _, acquire := range c.Grants {
		switch {
		case c.Func == protocols.AcquireCall && err == nil:
			b.leases[acquire] = c.Lease
		case c.Func == protocols.ReleaseCall:
			delete(b.leases, acquire)
		}
	}
}

// saw judges a belief that runs out. One that ends otherwise says why.
func (b *beliefs) saw(e *history.Event) {
	l := b.leases[e.Grant]
	if l == nil || e.Detail != "" {
		return
	}
	delete(b.leases, e.Grant)
	b.judged++
	early := l.Until().Sub(b.World.Client(e.Process).ProgramClock().Now())
	switch {
	case early > rounding:
		b.broken(e.Resource, "%s's belief in its lease runs out %v before the lease does", e.Process, early)
	case early < -slack && b.Lock.Clock == kernel.Monotonic: // no other moves on at a stroke
		b.broken(e.Resource, "%s believes in its lease for %v after it has run out", e.Process, -early)
	}
}
