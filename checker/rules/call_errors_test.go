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
			r.goes("c1", time.Second, func(a *actor) {
				call := &protocols.Call{Client: "c1", Resources: []string{"r"}, Grants: []int{1}, TTL: ttl}
				a.Called(call)
				call.Context = c.ctx // which ends while the call is under way
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
				x := &callErrors{watch: &watch{Run: r.Run}}
				got := x.goesOn(&call{Call: &protocols.Call{Func: protocols.ReleaseCall, Client: "c1", Context: ctx}})
				if got != c.wrong {
					t.Errorf("it goes on: %v, want %v", got, c.wrong)
				}
			})
			r.Kernel.Run(kernel.True(10 * time.Minute))
		})
	}
}

// Another client in the place of a closed one is not closed, and what waited in the closed one, or is about its leases, is. Who
// waits for a lock gives up for a cause, and the error says which.
func TestErrorsOfCalls(t *testing.T) {
	const untrue = "c1 gets an error that is not true, as "
	tell(t, checker.Contract, func(t *testing.T) *rig { return newRig(t).only("call-errors") }, []scene{
		{"of a closed client", "close; acquire; fails closed", ""},
		{"of a client that is closed meanwhile", "acquire; close; new-client; fails closed", ""},
		{"about a lease of a closed client", "acquire; granted v; close; new-client; extend v; fails closed", ""},
		{"of the client in its place", "close; new-client; acquire; fails closed", untrue + "nobody closed the client"},
		{"of a call that waits", "waiting; fails taken cancelled", ""},
		{"of a call that waits, without a cause", "waiting; fails taken", untrue + "it waited, and that does not say why it gave up"},
		{"of a call that does not wait", "acquire; fails taken", ""},
	})
}
