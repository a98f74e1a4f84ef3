package redlock

import (
	"errors"
	"time"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// tally counts the answers of a round, and decides it.
type tally struct {
	op       driver.Op
	quorum   int
	start    time.Time // the clock just before the commands were sent
	ballot   quorum.Ballot
	outcomes []observe.NodeOutcome
	early    quorum.Set      // acquires: the nodes whose votes came after the decision, and before there was a lease to join
	proposal proposal        // of a fencing token
	settled  bool            // the caller has no reason left to wait, or has gone; what follows is frozen then
	order    [MaxNodes]uint8 // the nodes whose outcomes came before that, in order
	timely   int             // how many they are
	votes    int             // how many of them said yes
	verdict  error           // nil if they are a quorum
}

// errBehind ends the round of a first token when a quorum would vote for a higher one.
var errBehind = errors.New("token behind the counters")

// record notes the outcome of one node. The acquisition is locked.
func (t *tally) record(i int, reply driver.Reply, now time.Time) {
	t.ballot.Record(i, reply.Outcome)
	out := &t.outcomes[i]
	out.Outcome, out.Err, out.Took = reply.Outcome, reply.Err, now.Sub(t.start)
	if !t.settled && reply.Outcome != driver.Unanswered {
		t.order[t.timely] = uint8(i)
		t.timely++
	}
}

// decide settles the round once its caller has no reason left to wait. The verdict is what is known at that moment: answers
// that come before the caller runs on do not change it. The acquisition is locked.
func (t *tally) decide() bool {
	n, q := len(t.outcomes), t.quorum
	t.votes = t.ballot.Accepted.Len()
	switch {
	case t.op == driver.OpPrepare: // of which all answers are wanted
		t.settled = t.ballot.Pending() == 0
	case t.ballot.Reached(q):
		t.settled = true
	case t.op == driver.OpAcquire && t.ballot.Later != 0 && t.ballot.Declined != 0: // the gate has said no
		t.settled, t.verdict = true, ErrTaken
	case t.ballot.Lost(q) && t.proposal.isFirst && t.ballot.BeatableYet(q):
		t.settled, t.verdict = t.decideNext()
	case t.ballot.Lost(q):
		t.settled = true
		no := t.ballot.Declined | t.ballot.Behind
		if t.op == driver.OpRelease { // nodes that are not asked have said no before
			no |= quorum.All(n).Without(t.ballot.Asked | t.ballot.Later)
		}
		switch {
		case no.Len() <= n-q:
			t.verdict = ErrNoQuorum
		case t.op == driver.OpAcquire:
			t.verdict = ErrTaken
		default:
			t.verdict = ErrLost
		}
	}
	return t.settled
}

// decideNext settles a first proposal that lost, once the answers say which token would win, or that none would. The
// acquisition is locked.
func (t *tally) decideNext() (isFinal bool, verdict error) {
	t.proposal.next, isFinal = t.proposal.beating(t.ballot.Accepted|t.ballot.Behind, t.ballot.Open() == 0, t.quorum)
	if t.proposal.next == 0 {
		return isFinal, ErrNoQuorum // so many nodes are alone with their counters
	}
	return isFinal, errBehind
}
