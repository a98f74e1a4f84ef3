package rules

import (
	"redlocksim/checker"
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
	// ranOut are the grants of which a belief has: an extend that is over when it returns begins another, which ends at once.
	ranOut map[int]bool
}

func watchBeliefs(r *watch) {
	if r.Foreign || r.StepTime > 0 {
		return
	}
	x := &beliefs{r, map[int]bool{}}
	r.onEvent(x.saw, history.Expire)
}

// saw judges a belief that runs out. One that ends otherwise says why.
func (b *beliefs) saw(e *history.Event) {
	l := b.leases.grantedBy(e.Grant)
	if l == nil || e.Detail != "" || b.ranOut[e.Grant] {
		return
	}
	b.ranOut[e.Grant] = true
	b.judged++
	early := l.Until().Sub(b.World.Client(e.Process).ProgramClock().Now())
	switch {
	case early > rounding:
		b.broken(e.Resource, "%s's belief in its lease runs out %v before the lease does", e.Process, early)
	case early < -slack && b.Lock.Clock == kernel.Monotonic: // no other moves on at a stroke
		b.broken(e.Resource, "%s believes in its lease for %v after it has run out", e.Process, -early)
	}
}
