package story

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/rounded"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
)

// step tells a step of a client, of its protocol or of the library.
func (t *teller) step(e *history.Event) string {
	a := t.attempts[e.Op]
	switch {
	case protocols.IsSentence(e.Name):
		if e.Name == protocols.CleanedUp && a != nil {
			return a.cleanedUp(e, t.refused(e), t.on(e))
		}
		return e.Process + " " + e.Detail + t.aside(e)
	case a != nil:
		if text := t.ofCall(e, a); text != "" {
			return text
		}
	}
	return t.ofClient(e)
}

// ofClient tells what a client does beside its calls.
func (t *teller) ofClient(e *history.Event) string {
	switch e.Name {
	case faults.Checked:
		if e.Span == math.MaxInt64 {
			return fmt.Sprintf("%s checks its lease%s, which has no end that it knows of", e.Process, t.on(e))
		}
		return fmt.Sprintf("%s checks its lease%s: %v left", e.Process, t.on(e), rounded.Duration(time.Duration(e.Span)))
	case faults.Stopped:
		return fmt.Sprintf("%s has too little of its lease%s left and does not write", e.Process, t.on(e))
	case faults.Prepared:
		return e.Process + " confirms that the nodes may vote"
	case faults.NotPrepared:
		return fmt.Sprintf("%s cannot confirm that the nodes may vote: %s", e.Process, e.Detail)
	case faults.Closed:
		return e.Process + " is closed"
	case faults.NewClient:
		return e.Process + " makes a new client"
	case faults.NoPermit:
		return fmt.Sprintf("%s gets no permit of %s: %s", e.Process, e.Resource, e.Detail)
	case observe.Lost.String():
		return fmt.Sprintf("%s learns %s", e.Process, cmp.Or(t.over[e.Grant], "that its lease"+t.on(e)+" is about to expire"))
	case observe.TakenBack.String():
		return t.takenBack(e)
	}
	return ""
}

// takenBack tells of a vote that came too late, once for each node in a call: a client that tries again and again has many.
func (t *teller) takenBack(e *history.Event) string {
	if slices.Contains(t.late[e.Process], e.Node) {
		return ""
	}
	t.late[e.Process] = append(t.late[e.Process], e.Node)
	return fmt.Sprintf("%s's late vote for %s%s is released", e.Node, e.Process, t.on(e))
}

// ofCall tells a step of the call under way, whose present attempt is a.
func (t *teller) ofCall(e *history.Event, a *attempt) string {
	switch e.Name {
	case observe.AttemptStarted.String():
		*a = attempt{number: e.Number, told: a.told, again: a.again}
	case observe.NodeAnswered.String():
		a.answers = append(a.answers, answer{e.Node, e.Detail})
	case observe.ValidityComputed.String():
		a.validity = time.Duration(e.Span)
	case observe.QuorumLost.String():
		if a.failure() {
			return fmt.Sprintf("%s%s%s: %s", t.refused(e), t.on(e), a.at(), a.describe())
		}
	case observe.TokenRaised.String():
		return fmt.Sprintf("%s proposes a higher token%s%s: %s", e.Process, t.on(e), a.at(), a.describe())
	case observe.Queued.String():
		return fmt.Sprintf("%s queues%s behind its own lease or another of its calls", e.Process, t.on(e))
	case observe.Yielding.String():
		return fmt.Sprintf("%s is first in its queue%s and waits %v before it asks", e.Process, t.on(e), rounded.Duration(time.Duration(e.Span)))
	case observe.Denied.String():
		if a.validity < 0 {
			return fmt.Sprintf("%s reads its clock again, finds no validity left%s (%v) and gives up the lock", e.Process, t.on(e), rounded.Duration(a.validity))
		}
	}
	return ""
}

// refused begins the sentence about an attempt that too few nodes voted for.
func (t *teller) refused(e *history.Event) string {
	if t.isOnOne {
		return e.Process + " is not granted the lock"
	}
	return e.Process + " gets no quorum"
}
