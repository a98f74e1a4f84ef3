package spec

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// acquisition is one attempt and the lease that may come of it.
type acquisition struct {
	value string
	attempt
	lease
	state   state
	letsGo  time.Time // when the attempt failed, or the release began; zero before
	answers []answers // to each question
}

// misnamed says what is wrong with the names in a step of an acquisition.
func (a *acquisition) misnamed(e *Event) (why string) {
	switch {
	case e.Resource != a.name:
		return fmt.Sprintf("it is about %q, and the attempt about %q", e.Resource, a.name)
	case e.Call != a.call:
		return "it names another call"
	case e.Attempt != a.number:
		return fmt.Sprintf("it is of attempt %d, and the attempt is number %d", e.Attempt, a.number)
	}
	return ""
}

// take has an acquisition take a step that its state allows, or says what is wrong with it.
func (c *Client) take(a *acquisition, e *Event) (why string) {
	if e.Op == driver.OpExtend && e.Step != observe.ExtendStarted && e.Step != observe.NodeAnswered && a.open == 0 {
		return "no extend is under way"
	}
	if why := a.hasAllJoined(e); why != "" {
		return why
	}
	switch e.Step {
	case observe.GateAsked:
		if n := len(a.gates); n > 0 { // which has not answered soon
			c.suspect(a, e.At, a.gates[n-1])
		}
		return a.asksGate(e, &c.settings)
	case observe.NodeAnswered:
		return c.answered(a, e)
	case observe.QuorumReached:
		return c.reached(a, e)
	case observe.QuorumLost:
		return c.lost(a, e)
	case observe.TokenRaised:
		return c.raised(a, e)
	case observe.ValidityComputed:
		return c.computed(a, e)
	case observe.Granted:
		return c.granted(a, e)
	case observe.Denied:
		return c.denied(a, e)
	case observe.Retrying:
		return c.retrying(a, e)
	case observe.ExtendStarted:
		return a.extend(e)
	case observe.Extended:
		return a.extended(e, &c.settings)
	case observe.NotExtended:
		return a.notExtended(e, &c.settings)
	case observe.Lost:
		return a.lose(e)
	case observe.ReleaseStarted:
		a.state, a.letsGo = releasing, e.At
	case observe.Released:
		return a.gone(e, &c.settings)
	case observe.Joined:
		return a.join(e)
	case observe.TakenBack:
		return a.takeBack(e)
	}
	return ""
}

// asksGate is the question to one node before the others: only of a retry, or where another had the lock a moment ago, which
// cannot be told here.
func (a *acquisition) asksGate(e *Event, s *Settings) (why string) {
	switch gate := e.Node.Node; {
	case !slices.Contains(s.Nodes, gate):
		return fmt.Sprintf("there is no node %q", gate)
	case slices.Contains(a.gates, gate):
		return gate + " was asked before"
	case len(a.gates) > len(s.Nodes)-s.Quorum:
		return fmt.Sprintf("%d nodes were asked before, which leaves no quorum to be asked after one", len(a.gates))
	}
	a.gates = append(a.gates, e.Node.Node)
	return ""
}

// silentOrNot takes from an answer whether the node is silent. Answers before the decision are told when that is made: one may
// have come before a silence that was told first.
func (c *Client) silentOrNot(a *acquisition, e *Event) {
	node, came := e.Node.Node, e.At
	switch {
	case e.Late:
	case e.Op == driver.OpAcquire:
		came = a.began
	case e.Op == driver.OpExtend:
		came = a.extending.began
	case e.Op == driver.OpRelease:
		came = a.letsGo
	}
	if e.Node.Outcome == driver.TimedOut || e.Node.Outcome == driver.Refused {
		c.silences[node] = silence{told: e.At}
	} else if last := c.silences[node]; came.After(last.told) {
		c.silences[node] = silence{last.told, true}
	}
}

// answered is a node's answer to any of an acquisition's commands.
func (c *Client) answered(a *acquisition, e *Event) (why string) {
	c.silentOrNot(a, e)
	if why := a.heard(e); why != "" {
		return why
	}
	if n := &e.Node; n.Outcome == driver.TimedOut && n.Took < c.settings.NodeTimeout && (a.letsGo.IsZero() || e.Op == driver.OpRelease) {
		return fmt.Sprintf("%s is given up after %v, where it has %v", n.Node, n.Took, c.settings.NodeTimeout)
	}
	switch e.Op {
	case driver.OpAcquire:
		if e.Node.Outcome == driver.TimedOut && e.Node.Err != context.DeadlineExceeded { // with which what was sent is given up
			a.ambiguous = append(a.ambiguous, e.Node.Node)
		}
		switch {
		case e.Late && a.raised && !a.settled[e.Node.Node]: // which of the two tokens it answers cannot be told
			if saysNo(e.Node.Outcome) {
				a.ambiguous = append(a.ambiguous, e.Node.Node)
			}
			return ""
		case !e.Late && a.state != asking:
			return "an answer in time, after the decision"
		}
		timely := c.settings.NodeTimeout
		// Counted from the proposal of the first token, or from the question to the gate: the process may have been paused
		// since.
		if a.raised || len(a.gates) > 0 {
			timely = math.MaxInt64
		}
		return a.votes.note(e, timely, &c.settings)
	case driver.OpExtend:
		return a.extending.note(e, &c.settings, a.open)
	case driver.OpRelease:
		switch {
		case e.Late: // it may be an answer to the release of a vote that came late
			return ""
		case a.state == denied:
			return "an answer in time, and nobody waits for the release of an attempt that failed"
		}
		return a.releases.note(e, math.MaxInt64, &c.settings)
	}
	return ""
}

func (c *Client) reached(a *acquisition, e *Event) (why string) {
	if e.Op == driver.OpExtend {
		return a.extending.reached(e, &c.settings)
	}
	if a.state != asking {
		return "the attempt was decided before"
	}
	a.state, a.second = agreed, e.At
	return a.votes.reached(e, &c.settings)
}

func (c *Client) lost(a *acquisition, e *Event) (why string) {
	if e.Op == driver.OpExtend {
		return a.extending.lost(e, &c.settings, !a.letsGo.IsZero())
	}
	if a.state != asking {
		return "the attempt was decided before"
	}
	a.state, a.why = refused, e.Err
	if a.votes.isLong(e.At.Sub(a.began), &c.settings) {
		c.suspect(a, e.At, c.settings.Nodes...)
	}
	return a.votes.lost(e, &c.settings, c.settings.Fencing && !a.raised, a.gates, c.silentFor(a))
}

func (c *Client) computed(a *acquisition, e *Event) (why string) {
	if e.Op == driver.OpExtend {
		return a.extending.computed(e, &c.settings)
	}
	if a.state != agreed {
		return "the attempt was decided before"
	}
	a.state, a.until, a.left = measured, e.Until, e.Validity
	if a.left <= 0 {
		a.why = redlock.ErrTooLate
	}
	return validity(e, a.began, a.second, a.ttls, &c.settings)
}
