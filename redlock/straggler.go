package redlock

import (
	"errors"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// followUp is what has to be done about an answer, beyond counting it.
type followUp uint8

const (
	nothing followUp = iota
	join
	takeBack
	releaseLate
	releaseNot
	releaseAgain // after twice as long each time
)

// means decides what an answer means for the acquisition as a whole.
//
// A vote that comes after the decision joins the lease: at once while it is held, or when it is made. A vote that comes after
// the release began is released in its turn, and so is what has timed out, since it may be carried out all the same. What too
// few replicas have confirmed is no vote, and joins nothing, but its key is on the node and has to go. The acquisition is
// locked.
func (a *acquisition) means(r *round, i int, late bool) followUp {
	outcome := r.outcomes[i].Outcome
	switch r.op {
	case driver.OpRelease:
		if a.isOwed(i, outcome) {
			return releaseAgain
		}
		return nothing
	case driver.OpAcquire:
	default:
		return nothing
	}
	a.noteLine(i, &r.outcomes[i], r.commands[i].Line)
	wasSent := r.outcomes[i].Err != errUnsent
	isUnconfirmed := outcome == driver.Failed && errors.As(r.outcomes[i].Err, new(*driver.ReplicasError))
	switch {
	case outcome == driver.Accepted, outcome == driver.Failed:
		a.voted = a.voted.With(i)
	case wasSent && (outcome == driver.TimedOut || outcome == driver.Refused):
		a.doubtful = a.doubtful.With(i)
	}
	switch {
	case a.released && a.asking().Has(i):
		return nothing
	case a.released && !(a.voted | a.doubtful).Has(i):
		return releaseNot
	case a.released && (outcome == driver.Accepted || isUnconfirmed):
		return takeBack
	case a.released:
		return releaseLate
	case !late || outcome != driver.Accepted:
		return nothing
	case a.granted && a.raised && r.proposal.isFirst:
		return nothing // the answer to the second token is the one that counts
	case a.granted:
		return join
	}
	r.early = r.early.With(i)
	return nothing
}

// noteLine takes note of what an answer to an acquire says of the line. The acquisition is locked.
func (a *acquisition) noteLine(i int, out *observe.NodeOutcome, line *driver.Line) {
	switch {
	case line == nil:
	case out.Outcome == driver.Accepted:
		a.outOfLine = a.outOfLine.With(i)
	case out.Outcome == driver.Declined && errors.Is(out.Err, driver.ErrWakeUp):
		a.outOfLine, a.keepsNone = a.outOfLine.With(i), true
	}
}

// isOwed takes the outcome of a release on one node. It reports whether the node has to be asked again: it has not answered, or
// what has not answered before may still set the key. The acquisition is locked.
func (a *acquisition) isOwed(i int, o driver.Outcome) bool {
	one := quorum.Set(0).With(i)
	switch {
	case o == driver.Accepted && !(a.raised && a.doubtful.Has(i)): // which may have two acquires to come
		a.doubtful = a.doubtful.Without(one)
	case o == driver.Declined && !a.doubtful.Has(i):
	case o != driver.Unanswered:
		return true
	}
	a.voted = a.voted.Without(one)
	return false
}

// follow takes note of what an answer says of the node, and does what it means. What belongs to no call says nothing: nobody
// could tell why a node is taken for silent.
func (a *acquisition) follow(r *round, i int, late bool, f followUp) {
	c := a.client
	out := r.outcomes[i]
	if !a.isUntold && out.Err != errUnsent && c.peers[i].heard(out.Outcome, out.Took-r.commands[i].since) {
		c.owed[i].isBack()
	}
	if late && out.Outcome != driver.Unanswered {
		a.observe(observe.Event{Step: observe.NodeAnswered, Op: r.op, Node: out, Late: true})
	}
	switch f {
	case join:
		a.observe(observe.Event{Step: observe.Joined, Op: driver.OpAcquire, Node: out})
	case takeBack:
		a.observe(observe.Event{Step: observe.TakenBack, Op: driver.OpRelease, Node: out})
		a.releaseLate(i)
	case releaseLate:
		a.releaseLate(i)
	case releaseNot:
		a.needNot(i)
	case releaseAgain:
		c.owed[i].add(a, r.tries, out.Outcome == driver.TimedOut || out.Outcome == driver.Refused)
	}
}
