package monitor

import (
	"fmt"
	"slices"
	"strings"

	"redlocksim/checker"
	"redlocksim/history"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// courses follows each acquisition by what the library reports of it: a step must follow from those before.
type courses struct {
	run    *Run
	of     map[string]*course     // by value
	closed map[string]bool        // clients that were closed
	after  map[string]kernel.True // when the Close of a client returned that waited for all that was under way
}

// course is what was reported of an acquisition.
type course struct {
	agreed, valid, granted, denied          bool // of the acquire
	started, extendable, lasting, concluded int  // of extends: begun, with a quorum, with a validity, and ended
	lost, releasing, released               bool
	late, joined                            []string // nodes whose votes came after the decision, and those that joined the lease
}

func newCourses(r *Run) Monitor {
	return &courses{run: r, of: map[string]*course{}, closed: map[string]bool{}, after: map[string]kernel.True{}}
}

// Saw implements Monitor.
func (c *courses) Saw(*history.Event) {}

// Over implements Monitor.
func (c *courses) Over() {}

// Applied implements Monitor.
func (c *courses) Applied(a redis.Applied) {
	after, closed := c.after[a.Client.Name()]
	if closed && a.Sent > after && a.Set() && slices.Contains(c.run.Resources, a.Key) {
		c.run.broken(checker.Contract, a.Key, "%s still asks %s for its vote, but was closed before", a.Client.Name(), a.Server.Name())
	}
}

// Called implements protocols.Witness.
func (c *courses) Called(call *protocols.Call) {
	if call.Func == protocols.CloseCall {
		c.closed[call.Client] = true
	}
}

// Returned implements protocols.Witness.
func (c *courses) Returned(call *protocols.Call, err error) {
	if call.Func == protocols.CloseCall && err == nil {
		c.after[call.Client] = c.run.World.Kernel.Now()
	}
}

// Observed implements protocols.Witness.
func (c *courses) Observed(client string, e observe.Event) {
	wrong := ""
	x := c.of[e.Value]
	switch e.Step {
	case observe.AttemptStarted:
		if x != nil {
			wrong = "begins an attempt with the value of an earlier one"
		}
		x = &course{}
		c.of[e.Value] = x
	case observe.Queued, observe.Yielding, observe.GaveUp, observe.QuorumLost, observe.TokenRaised:
		return // may come before the first attempt, or say nothing that others rest on
	default:
		if x == nil {
			if e.Step != observe.NodeAnswered { // of the preparation of the guard
				c.broken(client, &e, "without an attempt")
			}
			return
		}
	}
	if c.closed[client] && (e.Step == observe.AttemptStarted || e.Step == observe.ExtendStarted) {
		wrong = "after the client was closed"
	}
	if why := x.follow(&e); wrong == "" {
		wrong = why
	}
	if wrong != "" {
		c.broken(client, &e, wrong)
	}
}

// broken notes a step that does not follow.
func (c *courses) broken(client string, e *observe.Event, why string) {
	resource, _, _ := strings.Cut(e.Resource, ", ")
	c.run.broken(checker.Contract, resource, "%s reports the step %s %s", client, e.Step, why)
}

// follow notes a step, and says what is wrong with it; empty if it follows from those before.
func (x *course) follow(e *observe.Event) (wrong string) {
	unless := func(is bool, why string) {
		if !is && wrong == "" {
			wrong = why
		}
	}
	extend := e.Op == driver.OpExtend
	switch e.Step {
	case observe.NodeAnswered:
		if e.Late && e.Op == driver.OpAcquire && e.Node.Outcome == driver.Accepted {
			x.late = append(x.late, e.Node.Node)
		}
	case observe.QuorumReached:
		unless(e.Accepted >= e.Quorum, fmt.Sprintf("with %d of %d votes", e.Accepted, e.Quorum))
		if extend {
			x.extendable++
		} else {
			x.agreed = true
		}
	case observe.ValidityComputed:
		if extend && e.Validity > 0 {
			x.lasting++
		}
		x.valid = x.valid || !extend && e.Validity > 0
	case observe.Granted:
		unless(x.agreed, "without a quorum")
		unless(x.valid, "without a validity")
		unless(!x.granted && !x.denied, "after the attempt had ended")
		x.granted = true
	case observe.Denied:
		unless(!x.granted && !x.denied, "after the attempt had ended")
		x.denied = true
	case observe.Retrying:
		unless(x.denied, "though the attempt was not denied")
	case observe.ExtendStarted:
		unless(x.granted, "without a grant")
		x.started++
	case observe.Extended, observe.NotExtended:
		x.concluded++
		unless(x.concluded <= x.started, "without having begun to extend")
		if e.Step == observe.NotExtended {
			break
		}
		unless(x.extendable > 0, "without a quorum")
		unless(x.lasting > 0, "without a validity")
		unless(!x.lost && !x.releasing, "after the end of the lease was told")
		x.extendable--
		x.lasting--
	case observe.Lost:
		unless(x.granted, "without a grant")
		unless(!x.lost && !x.releasing, "after the end of the lease was told")
		x.lost = true
	case observe.ReleaseStarted:
		unless(x.granted, "without a grant")
		unless(!x.releasing, "a second time")
		x.releasing = true
	case observe.Released:
		unless(x.releasing, "without having begun to release")
		unless(!x.released, "a second time")
		unless(e.Err != nil || e.Accepted >= e.Quorum, fmt.Sprintf("as a success, with %d of %d nodes", e.Accepted, e.Quorum))
		x.released = true
	case observe.Joined:
		unless(x.granted && !x.released, "without a lease to join")
		unless(slices.Contains(x.late, e.Node.Node), "without a late vote of "+e.Node.Node)
		unless(!slices.Contains(x.joined, e.Node.Node), "a second time for "+e.Node.Node)
		x.joined = append(x.joined, e.Node.Node)
	case observe.TakenBack:
		unless(x.denied || x.releasing, "while the lease lasts")
		unless(slices.Contains(x.late, e.Node.Node), "without a late vote of "+e.Node.Node)
	}
	return wrong
}
