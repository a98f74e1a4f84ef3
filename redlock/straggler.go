package redlock

import (
	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// followUp is what an answer obliges the claim to, beyond counting it.
type followUp uint8

const (
	nothing followUp = iota
	join
	takeBack
)

// straggler decides what becomes of an answer for the claim as a whole. A vote that comes after the decision joins the
// grant while it is held. One that comes after a release began may have been cast after that release passed the node,
// so it is released again, unless the release itself says that it deleted the key. Where two tokens were proposed the
// node may have voted twice, once before that release and once after, so that what it says settles nothing. The claim is
// locked.
func (cl *claim) straggler(r *round, i int, late bool) followUp {
	accepted := r.outcomes[i].Outcome == driver.Accepted
	switch r.op {
	case driver.OpAcquire:
		switch {
		case !late || !accepted:
			return nothing
		case !cl.released && cl.granted && cl.raised && r.first:
			return nothing // the answer to the second token is the one that counts
		case !cl.released && cl.granted:
			return join
		case !cl.released: // the release that is to come, if it comes, finds this vote in place
			return nothing
		case cl.freed.Has(i) && !cl.raised:
			return nothing
		case cl.releasing.Has(i):
			cl.owing = cl.owing.With(i)
			return nothing
		}
		return takeBack
	case driver.OpRelease:
		one := quorum.Set(0).With(i)
		cl.releasing = cl.releasing.Without(one)
		owed := cl.owing.Has(i)
		cl.owing = cl.owing.Without(one)
		if accepted {
			cl.freed = cl.freed.With(i)
		}
		if owed && (!accepted || cl.raised) {
			return takeBack
		}
	}
	return nothing
}

// follow does what straggler decided, with the claim unlocked.
func (cl *claim) follow(f followUp, i int, outcome observe.NodeOutcome) {
	switch f {
	case join:
		cl.observe(observe.Event{Step: observe.Joined, Op: driver.OpAcquire, Node: outcome})
	case takeBack:
		cl.observe(observe.Event{Step: observe.TakenBack, Op: driver.OpRelease, Node: outcome})
		r := cl.newRound(driver.OpRelease, 0, quorum.Set(0).With(i))
		r.leave() // nobody waits for it but Close
		r.send()
	}
}
