// Package spec is Redlock as an executable specification: which steps a client of the lock may take, and when.
//
// It is written from the paper (the Redis documentation, "Distributed Locks with Redis"; here [R]) and from docs/guarantees.md,
// not from package redlock, and knows neither a network nor a simulator. A [Client] follows the steps that one client reports
// through its observer, and objects to the first that the specification does not allow.
//
// Three machines say which steps are allowed:
//
//   - an attempt (attempt.go): ask, count the votes, read the clock again, grant or deny;
//   - a lease (lease.go): extend, lose, release; and what becomes of votes that come late;
//   - a caller (caller.go): queue, attempt, retry, give up.
//
// An attempt and its lease are one acquisition, and state.go is the table of its transitions. Both are made of rounds, in which
// every node is asked the same (round.go). What a step says must fit, too: it has the fields of its kind (fields.go), a node
// answers what it was asked (answer.go), and an error tells what the nodes have answered (errors.go).
//
// Times are readings of the client's lock clock.
package spec

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// Settings are what a client was configured with.
type Settings struct {
	// Nodes are the names of the N nodes, in their order, and Quorum is q, which is a majority or more.
	Nodes  []string
	Quorum int
	// NodeTimeout is how long a node may take to answer.
	NodeTimeout time.Duration
	// Drift is CLOCK_DRIFT of [R] for a TTL.
	Drift func(ttl time.Duration) time.Duration
	// RetryMin and RetryMax are the range of the random delay before a retry. Zero is one that grows with the time waited.
	RetryMin, RetryMax time.Duration
	// WakeUp is how long it is the turn of who is called to the lock, which may cut a delay short. Zero is that nobody is.
	WakeUp time.Duration
	// Fencing: grants carry tokens. Guard: nodes can be in quarantine.
	Fencing, Guard bool
	// Sequence: grants carry tokens that do not come from the nodes, and without one there is no grant.
	Sequence bool
	// LossLead is how long before its end the loss of a lease is told; zero is the default, a twentieth of the TTL, from a
	// millisecond to a second.
	LossLead time.Duration
	// Prompt: code takes no time, so that a clock was read when the step that tells of it is reported.
	Prompt bool
}

// Event is a step, and what is known about it beside.
type Event struct {
	observe.Event
	// At is when it was reported.
	At time.Time
	// Asked is when the first command left of the round that it belongs to, before which the clock was read first. Zero is
	// right after the step with which the round began.
	Asked time.Time
	// Waited is for how long the client could have begun an attempt that begins: the first of a call since that is under way,
	// and a retry since the attempt before has failed, or since the client was called last if that was later. Zero is not at
	// all, or not known.
	Waited time.Duration
}

// Violation is a step that the specification does not allow.
type Violation struct {
	Event Event
	// State is what the client was doing, in words; empty if that does not matter. Allowed are the steps that it could have
	// taken.
	State   string
	Allowed []observe.Step
	// Why is what is wrong with a step that would be allowed otherwise; empty if the step itself is not.
	Why string
}

func (v *Violation) Error() string {
	switch {
	case v.State == "":
		return fmt.Sprintf("%s: %s", v.Event.Step, v.Why)
	case v.Why != "":
		return fmt.Sprintf("%s while %s: %s", v.Event.Step, v.State, v.Why)
	}
	allowed := make([]string, len(v.Allowed))
	for i, s := range v.Allowed {
		allowed[i] = s.String()
	}
	return fmt.Sprintf("%s while %s, where only these steps are allowed: %s", v.Event.Step, v.State, strings.Join(allowed, ", "))
}

// Client follows the steps of one client.
type Client struct {
	settings     Settings
	acquisitions map[string]*acquisition // by value
	last         *acquisition            // that was looked up: most steps are of the same as the step before
	callers      map[string]*caller      // by call
	queued       []*caller               // in the order in which they were told to wait
	leases       []*acquisition          // those held, and some that were
	silences     map[string]silence      // the last of each node
}

// New makes a client that has taken no step yet.
func New(s Settings) *Client {
	return &Client{settings: s, acquisitions: map[string]*acquisition{}, callers: map[string]*caller{}, silences: map[string]silence{}}
}

// Knows says whether a step is of a call or an attempt that was followed.
func (c *Client) Knows(e *observe.Event) bool {
	return c.of(e.Value) != nil || c.callers[e.Call] != nil
}

// of is the acquisition that has a value; nil if none has.
func (c *Client) of(value string) *acquisition {
	if c.last != nil && c.last.value == value {
		return c.last
	}
	a := c.acquisitions[value]
	if a != nil {
		c.last = a
	}
	return a
}

// Follow takes a step. The error is a *[Violation]; the client is followed no further after it.
func (c *Client) Follow(e Event) error {
	why := misshapen(&e)
	if why == "" && e.Step == observe.NodeAnswered {
		why = c.settings.answer(&e)
	}
	if why != "" {
		return &Violation{Event: e, Why: why}
	}
	if e.Op == driver.OpPrepare { // the restart guard has no attempts
		if e.Step == observe.NodeAnswered {
			c.silentOrNot(nil, &e)
		}
		return nil
	}
	switch e.Step {
	case observe.Queued, observe.Yielding, observe.GaveUp:
		return c.wait(e)
	case observe.AttemptStarted:
		return c.begin(e)
	}
	a := c.of(e.Value)
	if a == nil {
		return &Violation{Event: e, State: "no attempt has this value", Allowed: []observe.Step{observe.AttemptStarted, observe.Queued}}
	}
	if !slices.Contains(a.state.allows(), e.Step) {
		return &Violation{Event: e, State: a.state.String(), Allowed: a.state.allows()}
	}
	state := a.state
	if why = a.misnamed(&e); why == "" {
		why = c.take(a, &e)
	}
	if why != "" {
		return &Violation{Event: e, State: state.String(), Why: why}
	}
	return nil
}

// GoesOn says when a client goes on after a step that it has reported, at e.At: it may have stood still in between, and reads
// its clock only then. ttls are those that the first step of an attempt or extend may be about: what open calls ask for on the
// same resources. Nil is any.
func (c *Client) GoesOn(e Event, ttls []time.Duration) {
	a := c.of(e.Value)
	if a == nil {
		return
	}
	x := &a.extending
	switch {
	case e.Step == observe.AttemptStarted:
		a.began, a.ttls = e.At, ttls
	case e.Step == observe.ExtendStarted && !x.mixed:
		x.began, x.ttls = e.At, ttls
	case e.Step == observe.QuorumReached && e.Op == driver.OpExtend:
		x.second = e.At
	case e.Step == observe.QuorumReached:
		a.second = e.At
	}
}
