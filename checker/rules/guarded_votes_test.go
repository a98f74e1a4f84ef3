package rules

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
	"redlocksim/sim/network"
)

func guarded(own *protocols.RedlockSettings) { own.Guard = &protocols.Guard{MaxTTL: ttl} }

// A node that nobody has declared fit to vote does not vote.
func TestQuarantinedNodesDoNotVote(t *testing.T) {
	for fit, want := range map[string]string{"ABC": "", "AB": "C votes for c1, although its record of the restart guard does not let it"} {
		r := newRig(t, guarded)
		r.goes("c1", 0, func(a *actor) {
			a.declares(fit)
			a.sets("ABC", "v")
		})
		r.finds(t, checker.Contract, want)
	}
	// The record of C has another largest TTL.
	r := newRig(t, guarded)
	r.goes("c1", 0, func(a *actor) {
		a.declares("AB")
		a.asks("C", "SET", driver.GuardKey, a.Server("C").RunID()+" 0 20000")
		a.sets("ABC", "v")
	})
	r.finds(t, checker.Contract, "C votes for c1, although its record of the restart guard does not let it")
}

// A closed client declares nothing, and says so. One that is closed meanwhile has begun before.
func TestAClosedClientDeclaresNothing(t *testing.T) {
	for does, want := range map[string]string{"close; prepare; close; returns closed": "", "prepare; close; returns closed": "c1 declares the nodes fit to vote and is told "} {
		r := newRig(t, guarded)
		r.does("c1", "in-a-context; "+does)
		r.finds(t, checker.Contract, want)
	}
}

// declares makes nodes fit to vote.
func (a *actor) declares(nodes string) {
	for i := range nodes {
		a.asks(nodes[i:i+1], "SET", driver.GuardKey, a.Server(nodes[i:i+1]).RunID()+" 0 10000")
	}
}

// A declaration fails for a reason: the client, a node or the way to it was not in order, or its caller gave up.
func TestDeclarationsFailForAReason(t *testing.T) {
	refused := &redlock.Error{Op: driver.OpPrepare, Reason: redlock.ErrNotPrepared}
	for _, name := range []string{"A", "B", "C"} {
		refused.Nodes = append(refused.Nodes, observe.NodeOutcome{Node: name, Outcome: redlock.TimedOut})
	}
	ended, end := context.WithCancel(context.Background())
	end()
	for _, c := range []struct {
		name   string
		before func(*actor)
		ctx    context.Context
		err    error
		isTold bool
	}{
		{"all in order", nil, context.Background(), refused, true},
		{"succeeds", nil, context.Background(), nil, false},
		{"closed", nil, context.Background(), redlock.ErrClosed, false},
		{"its context has ended", nil, ended, refused, false},
		{"a node is paused", func(a *actor) { a.Server("B").Pause() }, context.Background(), refused, false},
		{"the client has no random bytes", func(a *actor) { a.client.Starve() }, context.Background(), refused, false},
		{"another client has none", func(a *actor) { a.Client("c2").Starve() }, context.Background(), refused, true},
		{"a connection breaks at once", func(a *actor) {
			a.Kernel.After(0, func() { a.Network.Link("c1", "C").Reset() })
			a.asks("C", "GET", "r")
		}, context.Background(), refused, false},
		{"a node cannot be reached", func(a *actor) { a.Network.Link("c1", "C").Cut(network.Requests) }, context.Background(), refused, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, guarded).only("guarded-votes")
			r.goes("c1", time.Second, func(a *actor) {
				if c.before != nil {
					c.before(a)
				}
				call := &protocols.Call{Func: protocols.PrepareCall, Client: "c1", Context: c.ctx}
				a.Called(call)
				a.sleeps(time.Millisecond)
				a.Returned(call, c.err)
			})
			want := ""
			if c.isTold {
				want = "c1 declares the nodes fit to vote and is told "
			}
			r.finds(t, checker.NeedlesslyUnavailable, want)
		})
	}
}

// What a call that declares the nodes fit returns is what became of them.
func TestPrepareTellsTheTruth(t *testing.T) {
	notPrepared := func(accepted string) *redlock.Error {
		e := &redlock.Error{Op: driver.OpPrepare, Resource: driver.GuardKey, Reason: redlock.ErrNotPrepared}
		for _, name := range []string{"A", "B", "C"} {
			node := observe.NodeOutcome{Node: name, Outcome: redlock.TimedOut}
			for _, is := range accepted {
				if string(is) == name {
					node.Outcome = redlock.Accepted
				}
			}
			e.Nodes = append(e.Nodes, node)
		}
		return e
	}
	fewer, mixed, unheard := notPrepared("A"), notPrepared("A"), notPrepared("A")
	unheard.Nodes[2].Outcome = redlock.Unanswered
	fewer.Nodes = fewer.Nodes[:2]
	mixed.Nodes[1], mixed.Nodes[2] = mixed.Nodes[2], mixed.Nodes[1]
	ended, end := context.WithCancel(context.Background())
	end()
	cut := *unheard
	cut.Cause = ended.Err()
	for _, c := range []struct {
		fit  string
		ctx  context.Context
		err  error
		want string
	}{
		{"ABC", context.Background(), nil, ""},
		{"AB", context.Background(), nil, "C is not fit"},
		{"AB", context.Background(), notPrepared("AB"), ""},
		{"AB", context.Background(), notPrepared("A"), ""},
		{"A", context.Background(), notPrepared("AB"), "B is not fit"},
		{"A", context.Background(), fewer, "it is not about all nodes"},
		{"A", context.Background(), mixed, "the nodes are in another order"},
		{"A", context.Background(), unheard, "it has not waited for what became of C"},
		{"A", ended, &cut, ""},
		{"ABC", context.Background(), notPrepared("ABC"), "all nodes are fit"},
		{"AB", ended, notPrepared("AB"), "its context had ended before"},
		{"AB", context.Background(), &redlock.Error{Op: driver.OpPrepare, Reason: redlock.ErrNotPrepared}, "no node was asked"},
		{"AB", context.Background(), &redlock.Error{Op: driver.OpAcquire, Reason: redlock.ErrNotPrepared}, "that is not the error of such a call"},
		{"AB", context.Background(), errors.New("x"), "that is not the error of such a call"},
		{"AB", context.Background(), redlock.ErrClosed, "that is not the error of such a call"},
	} {
		r := newRig(t, guarded).only("guarded-votes")
		r.goes("c1", 0, func(a *actor) {
			call := &protocols.Call{Func: protocols.PrepareCall, Client: "c1", Context: c.ctx}
			a.Called(call)
			a.declares(c.fit)
			a.Returned(call, c.err)
		})
		if c.want != "" {
			c.want = fmt.Sprintf("c1 declares the nodes fit to vote and is told %q, but %s", text(c.err), c.want)
		}
		r.finds(t, checker.Contract, c.want)
	}
}

// Without random bytes no node is asked, and that is what a call tells whose context had ended as well.
func TestPrepareWithoutRandomBytesInAContextThatEnded(t *testing.T) {
	ended, end := context.WithCancel(context.Background())
	end()
	err := &redlock.Error{Op: driver.OpPrepare, Resource: driver.GuardKey, Reason: redlock.ErrNotPrepared, Cause: errors.New("no random bytes")}
	for isStarved, want := range map[bool]string{true: "", false: "no node was asked"} {
		p := &preparing{call: &call{Call: &protocols.Call{Func: protocols.PrepareCall, Client: "c1", Context: ended}, isStarved: isStarved}, wasFit: make([]bool, 3)}
		if got := (&guardedVotes{watch: &watch{Run: newRig(t, guarded).Run}}).wrong(p, err); got != want {
			t.Errorf("starved %v: %q, want %q", isStarved, got, want)
		}
	}
}
