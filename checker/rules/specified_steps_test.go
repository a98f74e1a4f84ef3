package rules

import (
	"context"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// What a client reports is compared with what the specification allows with the settings and the TTLs of its calls, at the
// time that its clock shows. A client that crashed begins anew.
func TestSteps(t *testing.T) {
	attempt := observe.Event{Step: observe.AttemptStarted, Op: driver.OpAcquire, Resource: "r", Value: "v", Call: "v", Attempt: 1}
	answer := observe.Event{Step: observe.NodeAnswered, Op: driver.OpAcquire, Resource: "r", Value: "v", Call: "v", Attempt: 1}
	quorum := observe.Event{Step: observe.QuorumReached, Op: driver.OpAcquire, Resource: "r", Value: "v", Call: "v", Attempt: 1,
		Accepted: 2, Quorum: 2}
	for _, c := range []struct {
		name    string
		crashes bool
		untold  bool          // the client says nothing of the grant
		lasts   time.Duration // from the first reading of the clock on
		ttl     time.Duration
		want    string
	}{
		{"as allowed", false, false, 9898 * time.Millisecond, ttl, ""},
		{"a millisecond too long", false, false, 9899 * time.Millisecond, ttl, "c1 takes a step that the specification does not allow: validity-computed"},
		{"another TTL", false, false, 9898 * time.Millisecond, ttl / 2, "c1 takes a step that the specification does not allow: validity-computed"},
		{"the same value after a crash", true, false, 9898 * time.Millisecond, ttl, ""},
		{"a call that is told of and forgotten", false, true, 9898 * time.Millisecond, ttl, "c1 has told of a call that waits for r, all its calls have returned"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.goes("c1", 0, func(a *actor) {
				asked := &protocols.Call{Client: "c1", Resources: []string{"r"}, TTL: c.ttl}
				a.Called(asked)
				a.attempts(attempt)
				if c.crashes {
					_ = a.World.Crash(a.client)
					a.attempts(attempt)
				}
				for _, node := range []string{"A", "B"} {
					answer.Node = observe.NodeOutcome{Node: node, Outcome: driver.Accepted}
					a.Observed("c1", answer)
				}
				a.Observed("c1", quorum)
				now := a.client.ProgramClock().Now()
				a.Observed("c1", observe.Event{Step: observe.ValidityComputed, Op: driver.OpAcquire, Resource: "r", Value: "v",
					Call: "v", Attempt: 1, Validity: c.lasts, Until: now.Add(c.lasts)})
				if !c.untold {
					a.Observed("c1", observe.Event{Step: observe.Granted, Op: driver.OpAcquire, Resource: "r", Value: "v", Call: "v", Attempt: 1,
						Validity: c.lasts, Until: now.Add(c.lasts)})
				}
				a.Returned(asked, nil)
			})
			r.finds(t, checker.Refinement, c.want)
		})
	}
}

// attempts has the rules told of the first step of an attempt, after which its client goes on at once.
func (a *actor) attempts(e observe.Event) {
	a.Observed("c1", e)
	a.WentOn("c1", e)
}

// TestUntoldCalls: a call that waits tells so before it asks. What it does is not known if its client stood still.
func TestUntoldCalls(t *testing.T) {
	step := func(s observe.Step) observe.Event {
		return observe.Event{Step: s, Op: driver.OpAcquire, Resource: "r", Value: "v", Call: "v"}
	}
	queued, gaveUp, attempt := step(observe.Queued), step(observe.GaveUp), step(observe.AttemptStarted)
	attempt.Attempt = 1
	refused := &redlock.Error{Op: driver.OpAcquire, Resource: "r", Cause: context.Canceled}
	gaveUp.Err = refused
	const untold = "c1 takes a step that the specification does not allow: attempt-started while a call waits: it has waited for 1s"
	for _, c := range []struct {
		name     string
		at, then []observe.Event // when the call begins, and a second later
		pauses   bool
		err      error
		want     string
	}{
		{"waits untold", nil, []observe.Event{attempt}, false, nil, untold},
		{"waits", []observe.Event{queued}, []observe.Event{attempt}, false, nil, "c1 has told of a call that waits for r"},
		{"stood still", nil, []observe.Event{attempt}, true, nil, "c1 has told of a call that waits for r"},
		{"gives up", []observe.Event{queued}, []observe.Event{gaveUp}, false, refused, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.goes("c1", 0, func(a *actor) {
				asked := &protocols.Call{Client: "c1", Resources: []string{"r"}, TTL: ttl, Waits: true}
				a.Called(asked)
				for _, e := range c.at {
					a.Observed("c1", e)
				}
				if c.pauses {
					a.client.Pause()
					a.Kernel.After(time.Second, a.client.Resume)
				}
				a.sleeps(time.Second)
				for _, e := range c.then {
					a.Observed("c1", e)
				}
				a.Returned(asked, c.err)
			})
			r.finds(t, checker.Refinement, c.want)
		})
	}
}

// A client that is called to a lock for which it stands in line makes its retry at once, unless it stands still. That a node
// has called it is known from what reaches the client.
func TestACallToTheLock(t *testing.T) {
	refused := &redlock.Error{Op: driver.OpAcquire, Resource: "r", Reason: redlock.ErrTaken, Attempts: 1, NodeTimeout: 50 * time.Millisecond,
		Nodes: []observe.NodeOutcome{{Node: "A", Outcome: driver.Declined}, {Node: "B"}, {Node: "C"}}}
	for _, c := range []struct {
		name   string
		key    string
		pauses bool
		want   string
	}{
		{"called", "r", false, "c1 takes a step that the specification does not allow: attempt-started while a call waits: it was called to the lock, and has slept for 100ms all the same"},
		{"called and paused", "r", true, ""},
		{"called to another", "s", false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(own *protocols.RedlockSettings) { own.WakeUp = 10 * time.Millisecond }).only("specified-steps")
			r.goes("c1", 0, func(a *actor) {
				says := func(e observe.Event) {
					e.Op, e.Resource, e.Call = driver.OpAcquire, "r", "v"
					if e.Value == "" {
						e.Value, e.Attempt = "v", 1
					}
					a.Observed("c1", e)
				}
				a.Called(&protocols.Call{Client: "c1", Resources: []string{"r"}, TTL: ttl, Waits: true})
				says(observe.Event{Step: observe.AttemptStarted})
				says(observe.Event{Step: observe.GateAsked, Node: observe.NodeOutcome{Node: "A"}})
				says(observe.Event{Step: observe.NodeAnswered, Node: observe.NodeOutcome{Node: "A", Outcome: driver.Declined}})
				says(observe.Event{Step: observe.QuorumLost, Quorum: 2, Err: redlock.ErrTaken})
				says(observe.Event{Step: observe.Denied, Err: refused})
				says(observe.Event{Step: observe.Retrying, Delay: 150 * time.Millisecond, Err: redlock.ErrTaken})
				a.sleeps(50 * time.Millisecond)
				trace.Tell(a.Events, redis.Notified{Client: a.client, Message: c.key})
				if c.pauses {
					a.client.Pause()
					a.Kernel.After(time.Millisecond, a.client.Resume)
				}
				a.sleeps(100 * time.Millisecond)
				says(observe.Event{Step: observe.AttemptStarted, Value: "w", Attempt: 2})
			})
			r.finds(t, checker.Refinement, c.want)
		})
	}
}
