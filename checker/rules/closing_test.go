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
)

func TestNothingBeginsAfterClose(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []observe.Step
		sends bool
		want  string
	}{
		{"nothing", nil, false, ""},
		{"an attempt", []observe.Step{observe.AttemptStarted}, false, "c1 reports the step attempt-started after the client was closed"},
		{"an extend", []observe.Step{observe.ExtendStarted}, false, "c1 reports the step extend-started after the client was closed"},
		{"a vote", nil, true, "c1 still asks A for its vote"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.goes("c1", 0, func(a *actor) {
				for _, s := range []observe.Step{observe.AttemptStarted, observe.QuorumReached, observe.ValidityComputed} {
					a.Observed("c1", observe.Event{Step: s, Op: driver.OpAcquire, Resource: "r", Value: "v", Validity: 1})
				}
				a.call(protocols.CloseCall, nil, nil, nil)
				a.sleeps(time.Second)
				for _, s := range c.steps {
					e := observe.Event{Step: s, Resource: "r", Value: "v"}
					if s == observe.AttemptStarted {
						e.Value = "w"
					}
					a.Observed("c1", e)
				}
				if c.sends {
					a.sets("A", "w")
				}
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}

// The client that takes the place of one that is being closed asks for votes when that is closed.
func TestAnotherIsClosed(t *testing.T) {
	r := newRig(t)
	r.goes("c1", 0, func(a *actor) {
		a.call(protocols.CloseCall, nil, nil, func() { a.call(protocols.NewClientCall, nil, nil, nil) })
		a.sleeps(time.Second)
		a.sets("A", "w")
		a.Observed("c1", observe.Event{Step: observe.AttemptStarted, Op: driver.OpAcquire, Resource: "r", Value: "w", Call: "w", Attempt: 1})
	})
	r.finds(t, checker.Contract, "")
}

// A client goes on when another of its process is closed.
func TestAnOlderClientGoesOn(t *testing.T) {
	for _, c := range []struct {
		closes int // clients, one after the other
		want   string
	}{{1, ""}, {2, "c1 still asks A for its vote, but was closed before"}} {
		r := newRig(t)
		r.goes("c1", 0, func(a *actor) {
			if c.closes == 2 {
				a.call(protocols.CloseCall, nil, nil, nil)
			}
			a.call(protocols.NewClientCall, nil, nil, nil)
			a.call(protocols.CloseCall, nil, nil, nil)
			a.sleeps(time.Second)
			a.sets("A", "w")
		})
		r.finds(t, checker.Contract, c.want)
	}
}

// Nothing but the end of its context makes a Close fail.
func TestCloseFails(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		err  error
		want string
	}{
		{"succeeds", ended, nil, ""},
		{"its context has ended", ended, context.Canceled, ""},
		{"another error than its context's", ended, context.DeadlineExceeded, `c1: Close returns "context deadline exceeded"`},
		{"its context goes on", context.Background(), context.Canceled, `c1: Close returns "context canceled"`},
		{"is closed", nil, redlock.ErrClosed, `c1: Close returns "` + redlock.ErrClosed.Error() + `"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).only("refusals")
			closes := &protocols.Call{Func: protocols.CloseCall, Client: "c1", Context: c.ctx}
			r.Called(closes)
			r.Returned(closes, c.err)
			r.finds(t, checker.Contract, c.want)
		})
	}
}
