package spec

import (
	"math"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// acquisition is one attempt and the lease that may come of it.
type acquisition struct {
	attempt
	lease
	state state
}

// take has an acquisition take a step that its state allows, or says what is wrong with it.
func (c *Client) take(a *acquisition, e *Event) (why string) {
	switch e.Step {
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
		return a.extended(e, c.settings)
	case observe.NotExtended:
		return a.notExtended(e)
	case observe.Lost:
		return a.lose(e)
	case observe.ReleaseStarted:
		a.state = releasing
	case observe.Released:
		return a.letGo(e, c.settings)
	case observe.Joined:
		return a.join(e)
	case observe.TakenBack:
		return a.takeBack(e)
	}
	return ""
}

// answered is a node's answer to any of an acquisition's commands.
func (c *Client) answered(a *acquisition, e *Event) (why string) {
	switch e.Op {
	case driver.OpAcquire:
		switch {
		case e.Late && a.raised: // which of the two tokens it answers cannot be told
			return ""
		case !e.Late && a.state != asking:
			return "an answer in time, after the decision"
		}
		timely := c.settings.NodeTimeout
		if a.raised { // counted from the proposal of the first token, and the process may have been paused since
			timely = math.MaxInt64
		}
		return a.votes.note(e, c.settings.Nodes, timely)
	case driver.OpExtend:
		return a.extending.note(e, c.settings, a.open)
	case driver.OpRelease:
		return a.releases.note(e, a.state)
	}
	return ""
}

func (c *Client) reached(a *acquisition, e *Event) (why string) {
	if e.Op == driver.OpExtend {
		return a.extending.reached(e, c.settings, a.open)
	}
	if a.state != asking {
		return "the attempt was decided before"
	}
	a.state, a.second = agreed, e.At
	return a.votes.reached(e, c.settings)
}

func (c *Client) lost(a *acquisition, e *Event) (why string) {
	if e.Op == driver.OpExtend {
		return a.extending.lost(e, c.settings, a.open)
	}
	if a.state != asking {
		return "the attempt was decided before"
	}
	a.state = refused
	return a.votes.lost(e, c.settings, c.settings.Fencing && !a.raised)
}

func (c *Client) computed(a *acquisition, e *Event) (why string) {
	if e.Op == driver.OpExtend {
		return a.extending.computed(e, c.settings, a.open)
	}
	if a.state != agreed {
		return "the attempt was decided before"
	}
	a.state, a.until, a.left = measured, e.Until, e.Validity
	return validity(e, a.began, a.second, a.ttls, c.settings)
}
