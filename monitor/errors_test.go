package monitor

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// votes are the outcomes of nodes A, B, C.
func votes(outcomes ...driver.Outcome) (nodes []observe.NodeOutcome) {
	for i, o := range outcomes {
		nodes = append(nodes, observe.NodeOutcome{Node: "ABC"[i : i+1], Outcome: o})
	}
	return nodes
}

func TestErrorsSayWhatTookPlace(t *testing.T) {
	yes, no, late, none := redlock.Accepted, redlock.Declined, redlock.TimedOut, redlock.Unanswered
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
		{"not answered yet when it was decided", change(func(e *redlock.Error) { e.Nodes = votes(none, no, no) }), nil, ""},
		{"no quorum", change(func(e *redlock.Error) { e.Reason = redlock.ErrNoQuorum }), nil, "2 nodes declined, which leave no quorum"},
		{"too late", change(func(e *redlock.Error) { e.Reason = redlock.ErrTooLate }), nil, "1 nodes accepted, which are no quorum"},
		{"one refusal is not enough", change(func(e *redlock.Error) { e.Nodes = votes(yes, none, no) }), nil, "1 nodes declined, which leave a quorum"},
		{"nobody declined on A", change(func(e *redlock.Error) { e.Nodes = votes(no, no, no) }), nil, "A did what was asked"},
		{"B declined", change(func(e *redlock.Error) { e.Nodes = votes(yes, yes, no) }), nil, "B did not, or did not say so in time"},
		{"B answered", change(func(e *redlock.Error) { e.Nodes = votes(yes, late, no) }), nil, "B answered in time"},
		{"in another order", change(func(e *redlock.Error) {
			e.Nodes = []observe.NodeOutcome{taken.Nodes[1], taken.Nodes[0], taken.Nodes[2]}
		}), nil, "the nodes are in another order"},
		{"a node left out", change(func(e *redlock.Error) { e.Nodes = e.Nodes[1:] }), nil, "there are 3 nodes"},
		{"another call", change(func(e *redlock.Error) { e.Op = driver.OpExtend }), nil, "that is not what it called"},
		{"other resources", change(func(e *redlock.Error) { e.Resource = "r, s" }), nil, `it is about "r"`},
		{"the reason of another call", change(func(e *redlock.Error) { e.Reason = redlock.ErrLost }), nil, "that is no reason for it"},
		{"no reason", change(func(e *redlock.Error) { e.Reason = nil }), nil, "that says neither a reason nor a cause"},
		{"no attempt", change(func(e *redlock.Error) { e.Attempts = 0 }), nil, "it asked with 1 values"},
		{"an attempt too many", change(func(e *redlock.Error) { e.Attempts = 2 }), nil, "it asked with 1 values"},
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

// A call whose context ends during an attempt fails for the reason of the attempt before.
func TestTheReasonOfAnEarlierAttempt(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	undecided := votes(redlock.Unanswered, redlock.Unanswered, redlock.Unanswered)
	const wrong = "c1 gets an error that is not true, as 0 nodes declined, which leave a quorum"
	for _, c := range []struct {
		name          string
		first, second redlock.Error // with which the attempts are denied
		want          string
	}{
		{"the reason before", redlock.Error{Reason: redlock.ErrTaken}, redlock.Error{Cause: context.Canceled}, ""},
		{"another reason before", redlock.Error{Reason: redlock.ErrTooLate}, redlock.Error{Cause: context.Canceled}, wrong},
		{"the last was refused", redlock.Error{Reason: redlock.ErrTaken}, redlock.Error{Reason: redlock.ErrTooLate}, wrong},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.goes("c1", 0, func(a *actor) {
				call := &protocols.Call{Client: "c1", Resources: []string{"r"}, Grants: []int{1}, TTL: ttl}
				a.Called(call)
				call.Context = ended // while it is under way
				for i, denied := range []*redlock.Error{&c.first, &c.second} {
					value := fmt.Sprint("v", i)
					a.Observed("c1", observe.Event{Step: observe.AttemptStarted, Resource: "r", Value: value})
					a.sets("A", value)
					a.Observed("c1", observe.Event{Step: observe.Denied, Resource: "r", Value: value, Err: denied})
				}
				got := &redlock.Error{Op: driver.OpAcquire, Resource: "r", Attempts: 2, Reason: redlock.ErrTaken, Cause: context.Canceled, Nodes: undecided}
				a.Observed("c1", observe.Event{Step: observe.GaveUp, Resource: "r", Value: "v1", Err: got})
				a.Returned(call, got)
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}

// TestACommandThatNeverLeft: the command of a further round may wait for others until its time is up, so that what the error
// says is not about the one that was answered.
func TestACommandThatNeverLeft(t *testing.T) {
	for step, want := range map[observe.Step]string{
		observe.TokenRaised:  "",
		observe.NodeAnswered: "c1 gets an error that is not true, as A answered in time",
	} {
		t.Run(step.String(), func(t *testing.T) {
			r := newRig(t)
			r.goes("c1", 0, func(a *actor) {
				call := &protocols.Call{Client: "c1", Resources: []string{"r"}, Grants: []int{1}, TTL: ttl}
				a.Called(call)
				a.Observed("c1", observe.Event{Step: observe.AttemptStarted, Resource: "r", Value: "v"})
				a.sets("A", "v")
				a.Observed("c1", observe.Event{Step: step, Resource: "r", Value: "v"})
				late := &redlock.Error{Op: driver.OpAcquire, Resource: "r", Attempts: 1, Reason: redlock.ErrNoQuorum}
				for _, node := range "ABC" {
					late.Nodes = append(late.Nodes, observe.NodeOutcome{Node: string(node), Outcome: redlock.TimedOut})
				}
				a.Observed("c1", observe.Event{Step: observe.GaveUp, Resource: "r", Value: "v", Err: late})
				a.Returned(call, late)
			})
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
				x := &failures{run: r.Run}
				got := x.goesOn(&calling{Call: &protocols.Call{Func: protocols.ReleaseCall, Client: "c1", Context: ctx}})
				if got != c.wrong {
					t.Errorf("it goes on: %v, want %v", got, c.wrong)
				}
			})
			r.Kernel.Run(kernel.True(10 * time.Minute))
		})
	}
}

// A node whose key has run out may still have it in memory, and cannot extend it.
func TestAKeyThatHasRunOutCannotBeExtended(t *testing.T) {
	for step, want := range map[time.Duration]bool{5 * time.Second: true, 11 * time.Second: false} {
		t.Run(step.String(), func(t *testing.T) {
			r := newRig(t)
			r.goes("c1", 0, func(a *actor) {
				a.sets("A", "v")
				a.Server("A").Clock().Step(step)
				x := &failures{run: r.Run}
				if got := x.has(a.Server("A"), &calling{Call: &protocols.Call{Resources: []string{"r"}}, value: "v"}); got != want {
					t.Errorf("the node has the key: %v, want %v", got, want)
				}
			})
			r.Kernel.Run(kernel.True(time.Minute))
		})
	}
}

// A node that has only some of the keys of a release deletes those, and has not done what was asked.
func TestANodeReleasesAllKeys(t *testing.T) {
	r := newRig(t)
	r.goes("c1", 0, func(a *actor) {
		c := &calling{Call: &protocols.Call{Client: "c1", Resources: []string{"r", "s"}}, value: "v", asked: make([]asked, 3)}
		c.asked[0] = asked{times: 1, sent: a.Kernel.Now()}
		x := &failures{run: r.Run, calls: []*calling{c}}
		for i, want := range []bool{false, true} {
			x.applied(&redis.Applied{Change: redis.Change{Key: c.Resources[i], Before: redis.Record{Value: "v"}}, Server: a.Server("A"), Client: a.client, Sent: a.Kernel.Now()})
			if c.asked[0].isCarriedOut != want {
				t.Errorf("done with %d of 2 keys: %v, want %v", i+1, !want, want)
			}
		}
	})
	r.Kernel.Run(kernel.True(time.Minute))
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

// TestAttemptsNobodyReports: how many attempts an error speaks of is not judged where the lock's client tells nobody of them.
func TestAttemptsNobodyReports(t *testing.T) {
	r := newRig(t)
	r.goes("c2", 0, func(a *actor) { a.sets("BC", "other") })
	r.goes("c1", time.Second, func(a *actor) {
		call := &protocols.Call{Client: "c1", Resources: []string{"r"}, Grants: []int{1}, TTL: ttl}
		a.Called(call)
		a.sets("ABC", "v")
		a.Returned(call, &redlock.Error{Op: driver.OpAcquire, Resource: "r", Reason: redlock.ErrTaken, Attempts: 2})
	})
	r.finds(t, checker.Contract, "")
}

// An error tells of the largest TTL in a node's record that it is another than the client's, and what it is.
func TestErrorsTellOfAnotherLargestTTL(t *testing.T) {
	const wrong = "that is not the largest TTL of B, or not that of the client"
	for _, c := range []struct {
		node, client time.Duration
		want         string
	}{
		{20 * time.Second, ttl, ""},
		{20*time.Second + time.Millisecond, ttl, wrong},
		{20 * time.Second, 2 * ttl, wrong},
	} {
		r := newRig(t, guarded)
		r.goes("c1", time.Second, func(a *actor) {
			a.asks("B", "SET", driver.GuardKey, a.Server("B").RunID()+" 0 20000")
			e := &redlock.Error{Op: driver.OpAcquire, Resource: "r", Reason: redlock.ErrNoQuorum, Nodes: votes(redlock.Unanswered, redlock.Failed, redlock.Unanswered)}
			e.Nodes[1].Err = &driver.MaxTTLError{Node: c.node, Client: c.client}
			x := &failures{run: r.Run}
			if got := x.answers(&calling{isAlone: true, value: "v", asked: []asked{1: {maxTTL: guardRecordOf(a.Server("B")).maxTTL}, 2: {}}}, e, e); got != c.want {
				t.Errorf("%v of the node, %v of the client: %q, want %q", c.node, c.client, got, c.want)
			}
		})
		r.Kernel.Run(kernel.True(time.Minute))
	}
}

// An error matches what nodes answered that failed, and no largest TTL that none of them answered.
func TestErrorsMatchWhatNodesAnswered(t *testing.T) {
	refused, other := errors.New("refused"), &driver.MaxTTLError{Node: 2 * ttl, Client: ttl}
	for _, c := range []struct {
		answered error
		matches  []error
		want     string
	}{
		{refused, []error{refused}, ""},
		{refused, nil, "it does not match what B answered"},
		{refused, []error{refused, redlock.ErrMaxTTL}, "no node has another largest TTL"},
		{other, []error{other, redlock.ErrMaxTTL}, ""},
		{other, []error{redlock.ErrMaxTTL}, "it does not match what B answered"},
		{hidden{other}, []error{hidden{other}}, "it does not match ErrMaxTTL"},
	} {
		e := &redlock.Error{Op: driver.OpAcquire, Resource: "r", Reason: redlock.ErrNoQuorum, Nodes: votes(redlock.Unanswered, redlock.Failed, redlock.Unanswered)}
		e.Nodes[1].Err = c.answered
		x := &failures{run: newRig(t).Run}
		if got := x.answers(&calling{}, errors.Join(c.matches...), e); got != c.want {
			t.Errorf("%v answered, and the error matches %v: %q, want %q", c.answered, c.matches, got, c.want)
		}
	}
}

// hidden is an answer about another largest TTL that does not match redlock.ErrMaxTTL.
type hidden struct{ of *driver.MaxTTLError }

func (h hidden) Error() string { return h.of.Error() }
func (h hidden) As(target any) bool {
	other, ok := target.(**driver.MaxTTLError)
	if ok {
		*other = h.of
	}
	return ok
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
		x := &failures{run: newRig(t).Run, reports: map[string]bool{}}
		if got := x.kind(&calling{name: "r", Call: &protocols.Call{Func: protocols.AcquireCall, Waits: c.waits}}, e, e); got != c.want {
			t.Errorf("it waits: %v, cause %v: %q, want %q", c.waits, c.cause, got, c.want)
		}
	}
}
