package spec

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

// attempt is the algorithm of [R], once: "it tries to acquire the lock in all the N instances … computes how much time elapsed
// … if it was acquired in the majority of the instances, and the elapsed time is less than the validity time, the lock is
// considered acquired; its validity time is the initial validity time minus the time elapsed".
type attempt struct {
	call    string
	number  int
	began   time.Time
	ttls    []time.Duration
	votes   round     // for the token that was proposed last
	second  time.Time // when the quorum was reached, before the second reading of the clock
	raised  bool
	until   time.Time
	left    time.Duration
	retryAt time.Time // when the attempt after this one may begin; zero until it is told
}

// round is one command to all nodes.
type round struct {
	timely   map[string]driver.Outcome // what nodes answered before the decision
	late     map[string]driver.Outcome // and after it
	accepted int                       // of timely
}

// note takes the answer of one of so many nodes, whose vote counts if it comes in time.
func (r *round) note(e *Event, nodes int, timely time.Duration) (why string) {
	if r.timely == nil {
		r.timely, r.late = map[string]driver.Outcome{}, map[string]driver.Outcome{}
	}
	node, outcome := e.Node.Node, e.Node.Outcome
	_, before := r.timely[node]
	_, after := r.late[node]
	switch {
	case before || after:
		return node + " answers a second time"
	case len(r.timely)+len(r.late) == nodes:
		return fmt.Sprintf("an answer beside those of all %d nodes", nodes)
	case outcome == driver.Accepted && e.Node.Took > timely:
		return fmt.Sprintf("the vote of %s counts after %v, where %v are allowed", node, e.Node.Took, timely)
	case e.Late:
		r.late[node] = outcome
		return ""
	}
	r.timely[node] = outcome
	if outcome == driver.Accepted {
		r.accepted++
	}
	return ""
}

// declined is how many nodes said no.
func (r *round) declined() int {
	n := 0
	for _, o := range r.timely {
		if o == driver.Declined || o == driver.Behind {
			n++
		}
	}
	return n
}

// reached says what is wrong with a quorum.
func (r *round) reached(e *Event, s Settings) (why string) {
	switch {
	case e.Quorum != s.Quorum:
		return fmt.Sprintf("a quorum of %d, where %d are configured", e.Quorum, s.Quorum)
	case e.Accepted != r.accepted:
		return fmt.Sprintf("%d nodes are counted, and %d said yes", e.Accepted, r.accepted)
	case r.accepted < s.Quorum:
		return fmt.Sprintf("%d of %d nodes said yes, and a quorum is %d", r.accepted, s.Nodes, s.Quorum)
	}
	return ""
}

// lost says what is wrong with giving a quorum up.
func (r *round) lost(e *Event, s Settings) (why string) {
	if isCallers(e.Err) {
		return ""
	}
	if silent := s.Nodes - len(r.timely); r.accepted+silent >= s.Quorum {
		return fmt.Sprintf("%d nodes said yes and %d have not answered: a quorum of %d can still be reached", r.accepted, silent, s.Quorum)
	}
	denied := r.declined() > s.Nodes-s.Quorum
	if says := errors.Is(e.Err, redlock.ErrTaken) || errors.Is(e.Err, redlock.ErrLost); says != denied {
		return fmt.Sprintf("it says %q, and %d of %d nodes said no", e.Err, r.declined(), s.Nodes)
	}
	return ""
}

// isCallers reports that a call ended for a reason of its caller's.
func isCallers(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, redlock.ErrClosed)
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
	a := &acquisition{attempt: attempt{call: e.Call, number: e.Attempt, began: e.At, ttls: e.TTLs}, lease: lease{name: e.Resource}}
	c.acquisitions[e.Value] = a
	c.caller(&e).last = a
	return nil
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
		return a.releases.note(e, c.settings, a.state)
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
	return a.votes.lost(e, c.settings)
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
	}
	a.raised, a.votes = true, round{}
	return ""
}

// computed is the second reading of the clock: MIN_VALIDITY = TTL − (T2 − T1) − CLOCK_DRIFT.
func (c *Client) computed(a *acquisition, e *Event) (why string) {
	began, agreedAt, ttls := a.began, a.second, a.ttls
	if e.Op == driver.OpExtend {
		switch {
		case a.open == 0:
			return "no extend is under way"
		case a.extending.mixed:
			return ""
		}
		began, agreedAt, ttls = a.extending.began, a.extending.second, a.extending.ttls
	} else if a.state != agreed {
		return "the attempt was decided before"
	}
	if left := e.Until.Sub(agreedAt); e.Validity > left {
		return fmt.Sprintf("%v are left when only %v were when the quorum was reached", e.Validity, left)
	}
	lasts := e.Until.Sub(began)
	if ttls != nil && !slices.ContainsFunc(ttls, func(ttl time.Duration) bool {
		off := lasts - (ttl - c.settings.Drift(ttl))
		return off <= 1 && (off >= -1 || e.Op == driver.OpExtend)
	}) {
		return fmt.Sprintf("it would last %v from the first reading of the clock on; TTL and drift allow %v", lasts, c.allowed(ttls))
	}
	if e.Op == driver.OpAcquire {
		a.state, a.until, a.left = measured, e.Until, e.Validity
	} else {
		a.extending.until, a.extending.left = e.Until, e.Validity
	}
	return ""
}

// allowed is what the longest of the TTLs allows.
func (c *Client) allowed(ttls []time.Duration) time.Duration {
	ttl := slices.Max(ttls)
	return ttl - c.settings.Drift(ttl)
}

func (c *Client) granted(a *acquisition, e *Event) (why string) {
	switch {
	case a.left <= 0:
		return fmt.Sprintf("no validity was left: %v", a.left)
	case e.Until != a.until || e.Validity != a.left:
		return fmt.Sprintf("until %v more is promised, %v were computed", e.Validity, a.left)
	case c.settings.Fencing != (e.Token != 0):
		return fmt.Sprintf("with token %d", e.Token)
	}
	a.state = held
	c.leases = append(slices.DeleteFunc(c.leases, func(l *acquisition) bool { return l.state != held }), a)
	c.done(a.call)
	return ""
}

func (c *Client) denied(a *acquisition, e *Event) (why string) {
	if a.state == measured && a.left > 0 {
		return fmt.Sprintf("a quorum has voted, and %v are left", a.left)
	}
	if a.state == measured && !errors.Is(e.Err, redlock.ErrTooLate) {
		return fmt.Sprintf("too late, and it says %q", e.Err)
	}
	a.state = denied
	return ""
}
