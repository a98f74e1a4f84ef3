package spec

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

// attempt is the algorithm of [R], once: "it tries to acquire the lock in all the N instances … computes how much time elapsed
// … if it was acquired in the majority of the instances, and the elapsed time is less than the validity time, the lock is
// considered acquired; its validity time is the initial validity time minus the time elapsed".
type attempt struct {
	call   string
	number int
	began  time.Time
	ttls   []time.Duration
	votes  round     // for the token that was proposed last
	gates  []string  // nodes that were asked before the others
	silent []string  // nodes that had not answered lately when it began
	second time.Time // when the quorum was reached, before the second reading of the clock
	raised bool
	// ambiguous are nodes that may have no key to release, which cannot be told: they said no to one of two tokens, or their
	// time may have been over before they were asked.
	ambiguous []string
	// settled are the nodes that had answered the first token then: what they answer later is about the second.
	settled map[string]bool
	token   int64          // that was raised to
	why     error          // it was refused
	refusal *redlock.Error // that it was denied with
	until   time.Time
	left    time.Duration
	retryAt time.Time // when the attempt after this one may begin; zero until it is told
}

// begin is the first step of an attempt.
func (c *Client) begin(e Event) error {
	violation := func(state, format string, args ...any) error {
		return &Violation{Event: e, State: state, Why: fmt.Sprintf(format, args...)}
	}
	if c.acquisitions[e.Value] != nil {
		return violation("a call begins", "the value belongs to another attempt")
	}
	if why := c.asks(&e); why != "" {
		return violation("a call waits", "%s", why)
	}
	// Most attempts have one answer of each node, and one to the release.
	a := &acquisition{value: e.Value, attempt: attempt{call: e.Call, number: e.Attempt, began: e.At}, lease: lease{name: e.Resource},
		answers: make([]answers, 0, 2*len(c.settings.Nodes))}
	a.silent = c.silentNodes()
	c.acquisitions[e.Value], c.last = a, a
	c.caller(&e).last = a
	return nil
}

// silence is an answer of a node that did not come: when that was told, and whether one has come since.
type silence struct {
	told   time.Time
	isOver bool
}

// suspect has those of some nodes count as silent that an attempt has not heard of.
func (c *Client) suspect(a *acquisition, at time.Time, nodes ...string) {
	for _, node := range nodes {
		if _, answered := a.votes.timely.of(node); !answered {
			c.silences[node] = silence{told: at}
		}
	}
}

// silentNodes are those whose last answer did not come.
func (c *Client) silentNodes() (nodes []string) {
	for _, node := range c.settings.Nodes {
		if last, has := c.silences[node]; has && !last.isOver {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// silentFor are the nodes for which an attempt need not wait. Those that are silent when it asks are told neither with its
// start nor with its end: it may have found one silent that has answered since.
func (c *Client) silentFor(a *acquisition) []string {
	nodes := slices.Clone(a.silent)
	for _, node := range c.settings.Nodes {
		if last, has := c.silences[node]; has && !last.told.Before(a.began) {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// raised is the proposal of a higher token in the same attempt, once.
func (c *Client) raised(a *acquisition, e *Event) (why string) {
	switch {
	case !c.settings.Fencing:
		return "there are no tokens"
	case a.raised:
		return "a token was raised before in this attempt"
	case e.Token <= 0:
		return fmt.Sprintf("to %d", e.Token)
	case a.votes.accepted+a.votes.count(driver.Behind) < c.settings.Quorum:
		return "a quorum of nodes has not said that it would vote for a higher one"
	}
	if a.votes.isLong(e.At.Sub(a.began), &c.settings) {
		c.suspect(a, e.At, c.settings.Nodes...)
	}
	a.settled = map[string]bool{}
	for _, q := range a.answers { // there was no other question yet
		a.settled[q.node] = true
	}
	a.raised, a.token, a.votes = true, e.Token, round{}
	return ""
}

func (c *Client) granted(a *acquisition, e *Event) (why string) {
	switch {
	case a.left <= 0:
		return fmt.Sprintf("no validity was left: %v", a.left)
	case e.Until != a.until || e.Validity != a.left:
		return fmt.Sprintf("until %v more is promised, %v were computed", e.Validity, a.left)
	case (c.settings.Fencing || c.settings.Sequence) != (e.Token != 0), a.raised && e.Token != a.token:
		return fmt.Sprintf("with token %d", e.Token)
	}
	a.state, a.lead = held, longestLead(&c.settings, a.ttls, a.left)
	c.leases = append(slices.DeleteFunc(c.leases, func(l *acquisition) bool { return l.state != held }), a)
	c.done(a.call)
	return ""
}

// withoutToken says what is wrong with denying what a quorum has voted for: it may be for want of a token from elsewhere.
func (s *Settings) withoutToken(told *redlock.Error) (why string) {
	switch {
	case !s.Sequence:
		return "a quorum has voted"
	case errors.Is(told.Reason, redlock.ErrNoToken), told.Reason == nil && isCallers(told.Cause):
		return ""
	}
	return fmt.Sprintf("a quorum has voted, and its error says %q", told)
}

func (c *Client) denied(a *acquisition, e *Event) (why string) {
	if a.state == measured && a.left > 0 {
		return fmt.Sprintf("a quorum has voted, and %v are left", a.left)
	}
	told, why := c.settings.errorOf(e, a.number)
	if why != "" {
		return why
	}
	isAgreed := a.state == agreed
	a.state, a.letsGo, a.refusal = denied, e.At, told
	if x := c.callers[a.call]; x != nil {
		if x.inVain.IsZero() {
			x.inVain = e.At
		}
		if told.Reason != nil {
			x.refused = told.Reason
		}
	}
	if isAgreed {
		why = c.settings.withoutToken(told)
	} else {
		why = says(told, a.why)
	}
	if why != "" {
		return why
	}
	return a.votes.of(told, &c.settings)
}
