package rules

import (
	"context"
	"errors"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
)

// votes are the outcomes of nodes A, B, C.
func votes(outcomes ...driver.Outcome) (nodes []observe.NodeOutcome) {
	for i, o := range outcomes {
		nodes = append(nodes, observe.NodeOutcome{Node: "ABC"[i : i+1], Outcome: o})
	}
	return nodes
}

func TestErrorsSayWhatTookPlace(t *testing.T) {
	yes, no := redlock.Accepted, redlock.Declined
	// c2 holds the key on B and C.
	taken := redlock.Error{Op: driver.OpAcquire, Resource: "r", Attempts: 1, Reason: redlock.ErrTaken, Nodes: votes(yes, no, no)}
	change := func(f func(*redlock.Error)) *redlock.Error {
		e := taken
		f(&e)
		return &e
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name string
		err  *redlock.Error
		ctx  context.Context
		want string
	}{
		{"held by another", &taken, nil, ""},
		{"another call", change(func(e *redlock.Error) { e.Op = driver.OpExtend }), nil, "that is not what it called"},
		{"other resources", change(func(e *redlock.Error) { e.Resource = "r, s" }), nil, `it is about "r"`},
		{"no reason", change(func(e *redlock.Error) { e.Reason = nil }), nil, "that says neither a reason nor a cause"},
		{"a context that has ended", change(func(e *redlock.Error) { e.Cause = context.Canceled }), ended, ""},
		{"a context that has not", change(func(e *redlock.Error) { e.Cause = context.Canceled }), context.Background(), "its context has not ended"},
		{"closed", change(func(e *redlock.Error) { e.Cause = redlock.ErrClosed }), context.Background(), "nobody closed the client"},
		{"tokens used up", change(func(e *redlock.Error) { e.Cause = redlock.ErrTokensUsedUp }), nil, "no node has the largest token"},
		{"no random bytes", change(func(e *redlock.Error) { e.Cause = errors.New("x") }), nil, "nothing failed that it needs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.goes("c2", 0, func(a *actor) { a.sets("BC", "other") })
			r.goes("c1", time.Second, func(a *actor) {
				call := &protocols.Call{Client: "c1", Resources: []string{"r"}, Grants: []int{1}, TTL: ttl}
				a.Called(call)
				call.Context = c.ctx // which ends while the call is under way
				a.Observed("c1", observe.Event{Step: observe.AttemptStarted, Resource: "r", Value: "v"})
				a.sets("ABC", "v")
				a.Observed("c1", observe.Event{Step: observe.GaveUp, Resource: "r", Value: "v", Err: c.err})
				a.Returned(call, c.err)
			})
			want := ""
			if c.want != "" {
				want = "c1 gets an error that is not true, as " + c.want
			}
			r.finds(t, checker.Contract, want)
		})
	}
}

// A release in the context of its own lease goes on when the lease ends that, up to its deadline.
func TestTheEndOfALeaseDoesNotEndItsRelease(t *testing.T) {
	for _, c := range []struct {
		name  string
		why   error         // the lease has ended
		left  time.Duration // until the deadline; negative if there is none
		wrong bool
	}{
		{"released", redlock.ErrReleased, -1, true},
		{"lost", redlock.ErrLost, -1, true},
		{"before the deadline", redlock.ErrReleased, time.Second, true},
		{"at the deadline", redlock.ErrReleased, 0, false},
		{"another context", context.Canceled, -1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.goes("c1", time.Second, func(a *actor) {
				clock := a.client.ProgramClock()
				ctx, end := clock.WithCancel(context.Background())
				if c.left >= 0 {
					ctx, _ = clock.WithDeadline(ctx, a.reads().Add(time.Minute))
				}
				end(c.why)
				if c.left >= 0 {
					a.sleeps(time.Minute - c.left)
				}
				x := &failures{watch: &watch{Run: r.Run}}
				got := x.goesOn(&call{Call: &protocols.Call{Func: protocols.ReleaseCall, Client: "c1", Context: ctx}})
				if got != c.wrong {
					t.Errorf("it goes on: %v, want %v", got, c.wrong)
				}
			})
			r.Kernel.Run(kernel.True(10 * time.Minute))
		})
	}
}

// TestClosedIsTheClientOfTheCall: another client in the place of a closed one is not closed, and what waited in the closed one,
// or is about its leases, is.
func TestClosedIsTheClientOfTheCall(t *testing.T) {
	client := func(f protocols.CallFunc) *protocols.Call { return &protocols.Call{Func: f, Client: "c1"} }
	closes := func(a *actor) {
		call := client(protocols.CloseCall)
		a.Called(call)
		a.Returned(call, nil)
	}
	acquire := func() *protocols.Call {
		return &protocols.Call{Client: "c1", Resources: []string{"r"}, Grants: []int{1}, TTL: ttl}
	}
	closed := &redlock.Error{Op: driver.OpAcquire, Resource: "r", Cause: redlock.ErrClosed}
	for _, c := range []struct {
		name  string
		calls func(a *actor) (call *protocols.Call, err *redlock.Error)
		want  string
	}{
		{"of the closed one", func(a *actor) (*protocols.Call, *redlock.Error) {
			closes(a)
			call := acquire()
			a.Called(call)
			return call, closed
		}, ""},
		{"that waited in it", func(a *actor) (*protocols.Call, *redlock.Error) {
			call := acquire()
			a.Called(call)
			closes(a)
			a.Called(client(protocols.NewClientCall))
			return call, closed
		}, ""},
		{"about its lease", func(a *actor) (*protocols.Call, *redlock.Error) {
			closes(a)
			a.Called(client(protocols.NewClientCall))
			call := acquire()
			call.Func, call.Lease = protocols.ExtendCall, a.lease("v", a.reads())
			a.Called(call)
			return call, &redlock.Error{Op: driver.OpExtend, Resource: "r", Cause: redlock.ErrClosed}
		}, ""},
		{"of the one in its place", func(a *actor) (*protocols.Call, *redlock.Error) {
			closes(a)
			a.Called(client(protocols.NewClientCall))
			call := acquire()
			a.Called(call)
			return call, closed
		}, "c1 gets an error that is not true, as nobody closed the client"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.goes("c1", time.Second, func(a *actor) {
				call, err := c.calls(a)
				a.Returned(call, err)
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}

// Who waits for a lock gives up for a cause, and the error says which.
func TestWhoWaitsSaysWhyHeGivesUp(t *testing.T) {
	const silent = "it waited, and that does not say why it gave up"
	for _, c := range []struct {
		waits bool
		cause error
		want  string
	}{{true, context.Canceled, ""}, {true, nil, silent}, {false, nil, ""}} {
		e := &redlock.Error{Op: driver.OpAcquire, Resource: "r", Reason: redlock.ErrTaken, Cause: c.cause}
		x := &failures{watch: &watch{Run: newRig(t).Run}}
		if got := x.kind(&call{Call: &protocols.Call{Func: protocols.AcquireCall, Resources: []string{"r"}, Waits: c.waits}}, e, e); got != c.want {
			t.Errorf("it waits: %v, cause %v: %q, want %q", c.waits, c.cause, got, c.want)
		}
	}
}
