package redlock

import (
	"errors"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
)

// followUp is what has to be done about an answer, beyond counting it.
type followUp uint8

const (
	nothing followUp = iota
	join
	takeBack
)

// straggler decides what an answer means for the acquisition as a whole.
//
// A vote that comes after the decision joins the lease: at once while it is held, or when it is made. A vote that comes after
// a release began may have been cast after that release passed the node, so it is released again, unless the release itself
// says that it deleted the key. If two tokens were proposed, the node may have voted twice, before that release and after it,
// so what the release says settles nothing. The acquisition is locked.
//
// What too few replicas have confirmed is no vote, and joins nothing, but its key is on the node and has to go.
func (a *acquisition) straggler(t *tally, i int, late bool) followUp {
	accepted := t.outcomes[i].Outcome == driver.Accepted
	isUnconfirmed := t.outcomes[i].Outcome == driver.Failed && errors.As(t.outcomes[i].Err, new(*driver.ReplicasError))
	switch t.op {
	case driver.OpAcquire:
		switch {
		case !late || !accepted && !isUnconfirmed:
			return nothing
		case !a.released && isUnconfirmed: // the release that is to come finds the key
			return nothing
		case !a.released && a.granted && a.raised && t.proposal.isFirst:
			return nothing // the answer to the second token is the one that counts
		case !a.released && a.granted:
			return join
		case !a.released: // the lease or the release that is to come finds this vote in place
			t.early = t.early.With(i)
			return nothing
		case a.freed.Has(i) && !a.raised:
			return nothing
		case a.releasing.Has(i):
			a.owing = a.owing.With(i)
			return nothing
		}
		return takeBack
	case driver.OpRelease:
		one := quorum.Set(0).With(i)
		a.releasing = a.releasing.Without(one)
		owed := a.owing.Has(i)
		a.owing = a.owing.Without(one)
		if accepted {
			a.freed = a.freed.With(i)
		}
		if owed && (!accepted || a.raised) {
			return takeBack
		}
	}
	return nothing
}
