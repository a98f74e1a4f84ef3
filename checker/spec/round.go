package spec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// round is one command to all nodes.
type round struct {
	timely   nodeOutcomes  // what nodes answered before the decision
	late     nodeOutcomes  // and after it
	accepted int           // of timely
	took     time.Duration // until the last of timely
}

// nodeOutcomes are of nodes, each of which has one at the most. They are few: looking through them takes less than a map does.
type nodeOutcomes []observe.NodeOutcome

// of is the outcome of a node; the zero value if it has none.
func (all nodeOutcomes) of(node string) (outcome observe.NodeOutcome, has bool) {
	for i := range all {
		if all[i].Node == node {
			return all[i], true
		}
	}
	return outcome, false
}

// note takes the answer of a node, whose vote counts if it comes in time. Answers before the decision are told in their order.
func (r *round) note(e *Event, timely time.Duration, s *Settings) (why string) {
	node, outcome := e.Node.Node, e.Node.Outcome
	_, before := r.timely.of(node)
	_, after := r.late.of(node)
	switch {
	case before || after:
		return node + " answers a second time"
	case outcome == driver.Accepted && e.Node.Took > timely:
		return fmt.Sprintf("the vote of %s counts after %v, where %v are allowed", node, e.Node.Took, timely)
	case e.Late:
		r.late = append(r.late, e.Node)
		return ""
	case e.Node.Took < r.took:
		return fmt.Sprintf("%s has answered after %v, and the one before after %v", node, e.Node.Took, r.took)
	}
	if r.timely == nil {
		r.timely = make(nodeOutcomes, 0, len(s.Nodes))
	}
	r.timely, r.took = append(r.timely, e.Node), e.Node.Took
	if outcome == driver.Accepted {
		r.accepted++
	}
	return ""
}

// declined is how many nodes said no.
func (r *round) declined() int { return r.count(driver.Declined) + r.count(driver.Behind) }

func (r *round) count(outcome driver.Outcome) (n int) {
	for i := range r.timely {
		if r.timely[i].Outcome == outcome {
			n++
		}
	}
	return n
}

// patience is for how long nodes are waited for at the least where another has votes.
const patience = 20 * time.Millisecond

// isLong says whether a quorum has answered, and so long ago that another has votes that the rest counts as silent.
func (r *round) isLong(lasted time.Duration, s *Settings) bool {
	isNo := func(o observe.NodeOutcome) bool { return o.Outcome == driver.Declined }
	first := slices.IndexFunc(r.timely, isNo)
	return first >= 0 && len(r.timely) >= s.Quorum && lasted-r.timely[first].Took >= min(patience, s.NodeTimeout)
}

// reached says what is wrong with a quorum.
func (r *round) reached(e *Event, s *Settings) (why string) {
	switch {
	case e.Quorum != s.Quorum:
		return fmt.Sprintf("a quorum of %d, where %d are configured", e.Quorum, s.Quorum)
	case e.Accepted != r.accepted:
		return fmt.Sprintf("%d nodes are counted, and %d said yes", e.Accepted, r.accepted)
	case r.accepted < s.Quorum:
		return fmt.Sprintf("%d of %d nodes said yes, and a quorum is %d", r.accepted, len(s.Nodes), s.Quorum)
	}
	return ""
}

// lost says what is wrong with giving a quorum up. In the round that proposes the first of an attempt's tokens it may be for
// want of one that would win.
// gates are the nodes that were asked before the others, and silent those that have not answered lately.
func (r *round) lost(e *Event, s *Settings, isFirst bool, gates, silent []string) (why string) {
	switch {
	case e.Quorum != s.Quorum:
		return fmt.Sprintf("a quorum of %d, where %d are configured", e.Quorum, s.Quorum)
	case e.Accepted != r.accepted:
		return fmt.Sprintf("%d nodes are counted, and %d said yes", e.Accepted, r.accepted)
	case isCallers(e.Err), isFirst && errors.Is(e.Err, redlock.ErrTokensUsedUp):
		return ""
	}
	// Counters that are alone are not followed.
	alone := isFirst && r.count(driver.Declined) <= len(s.Nodes)-s.Quorum && r.count(driver.Behind) > 0
	for _, gate := range gates {
		if said, _ := r.timely.of(gate); said.Outcome == driver.Declined && e.Err == redlock.ErrTaken && r.accepted+r.count(driver.Behind) == 0 {
			return ""
		}
	}
	return r.refusal(e.Op, e.Err, alone, silent, nil, s)
}

// refusal says what is wrong with a reason why a quorum was given up, which it was not for its caller. Nodes that are behind
// may be no refusal. Where another has votes, nodes that have not answered lately are not waited for; unasked ones are not at
// all: a release does not ask those that have said no to the acquire.
func (r *round) refusal(op driver.Op, reason error, mayBeAlone bool, silent, unasked []string, s *Settings) (why string) {
	open, reliable, no := 0, 0, r.declined()
	for _, node := range s.Nodes {
		if _, answered := r.timely.of(node); answered {
			continue
		}
		if slices.Contains(unasked, node) {
			no++
			continue
		}
		if open++; !slices.Contains(silent, node) {
			reliable++
		}
	}
	isHopeless := op == driver.OpAcquire && reliable == 0 && r.count(driver.Declined) > 0
	if r.accepted+open >= s.Quorum && !isHopeless {
		return fmt.Sprintf("%d nodes said yes and %d have not answered: a quorum of %d can still be reached", r.accepted, open, s.Quorum)
	}
	want := redlock.ErrNoQuorum
	if no > len(s.Nodes)-s.Quorum {
		want = redlock.ErrLost
		if op == driver.OpAcquire {
			want = redlock.ErrTaken
		}
	}
	if reason != want && !(mayBeAlone && reason == redlock.ErrNoQuorum) {
		return fmt.Sprintf("it says %q, and %d of %d nodes said no", reason, no, len(s.Nodes))
	}
	return ""
}

// isCallers reports that a call ended for a reason of its caller's.
func isCallers(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// validity is the second reading of the clock: MIN_VALIDITY = TTL − (T2 − T1) − CLOCK_DRIFT. It says what is wrong with what
// was computed of a round that began and had its quorum at these times. The first reading came after its beginning, and before
// its first command left.
func validity(e *Event, began, agreed time.Time, ttls []time.Duration, s *Settings) (why string) {
	if left := e.Until.Sub(agreed); e.Validity > left {
		return fmt.Sprintf("%v are left when only %v were when the quorum was reached", e.Validity, left)
	}
	switch read := e.Until.Add(-e.Validity); {
	case read.After(e.At):
		return fmt.Sprintf("the clock is said to have read %v more than it does", read.Sub(e.At))
	case s.Prompt && e.At.Sub(read) > time.Microsecond:
		return fmt.Sprintf("the clock was read %v before it counts", e.At.Sub(read))
	}
	if ttls == nil {
		return ""
	}
	asked := began
	if e.Asked.After(began) {
		asked = e.Asked
	}
	lasts := e.Until.Sub(asked)
	allowed := func(ttl time.Duration) time.Duration { return ttl - s.Drift(ttl) }
	if !slices.ContainsFunc(ttls, func(ttl time.Duration) bool {
		return lasts <= allowed(ttl)+1 && e.Until.Sub(began) >= allowed(ttl)-1
	}) {
		return fmt.Sprintf("it would last %v from the first reading of the clock on; TTL and drift allow %v", lasts, allowed(slices.Max(ttls)))
	}
	return ""
}
