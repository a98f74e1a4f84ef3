package monitor

import (
	"context"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
)

func TestTimersAfterClose(t *testing.T) {
	ended, end := context.WithCancel(context.Background())
	end()
	for _, c := range []struct {
		name string
		does func(*actor)
		ctx  context.Context // of Close
		want string
	}{
		{"none", func(*actor) {}, context.Background(), ""},
		{"one", func(a *actor) { a.client.WorkClock().AfterFunc(time.Second, func() {}) }, context.Background(),
			"c1 is closed, has no lease and is doing nothing, and has timers left: 1. (1)"},
		{"of Close itself", func(a *actor) { a.client.WorkClock().AfterFunc(time.Second, func() {}) }, ended, ""},
		{"one that was stopped", func(a *actor) { a.client.WorkClock().AfterFunc(time.Second, func() {}).Stop() }, context.Background(), ""},
		{"one that has come", func(a *actor) { a.client.WorkClock().AfterFunc(time.Second, func() {}); a.sleeps(2 * time.Second) }, context.Background(), ""},
		{"a deadline", func(a *actor) {
			_, _ = a.client.WorkClock().WithDeadline(context.Background(), a.reads().Add(time.Second))
		}, context.Background(), "c1 is closed, "},
		{"of a lease", func(a *actor) {
			a.client.WorkClock().AfterFunc(time.Second, func() {})
			a.call(protocols.AcquireCall, a.lease("v", a.reads().Add(ttl)), nil, nil)
		}, context.Background(), ""},
		{"of a lease that was released", func(a *actor) {
			a.client.WorkClock().AfterFunc(time.Second, func() {})
			l := a.lease("v", a.reads().Add(ttl))
			a.call(protocols.AcquireCall, l, nil, nil)
			l.cancel(redlock.ErrReleased)
		}, context.Background(), "c1 is closed, "},
		{"of a call under way", func(a *actor) {
			a.client.WorkClock().AfterFunc(time.Second, func() {})
			a.Called(&protocols.Call{Func: protocols.ExtendCall, Client: "c1", Resources: []string{"r"}})
		}, context.Background(), ""},
		{"of work under way", func(a *actor) {
			a.client.WorkClock().AfterFunc(time.Second, func() {})
			a.Works(&protocols.Work{Client: "c1", Resource: "r", Lease: a.lease("v", a.reads())})
		}, context.Background(), ""},
		{"of another client of the process", func(a *actor) {
			a.client.WorkClock().AfterFunc(time.Second, func() {})
			call := &protocols.Call{Func: protocols.NewClientCall, Client: "c1"}
			a.Called(call)
			a.Returned(call, nil)
		}, context.Background(), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.onCall, r.onReturn, r.onWork, r.onEvent, r.onEnd = nil, nil, nil, nil, nil
			watchTimers(r.Run)
			r.clients = watchClients(r.Run)
			r.goes("c1", 0, func(a *actor) {
				c.does(a)
				call := &protocols.Call{Func: protocols.CloseCall, Client: "c1", Context: c.ctx}
				a.Called(call)
				a.Returned(call, nil)
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}

// A client that was started again after a crash is not the one that was closed before, and has nothing of it under way.
func TestRestartedClientsAreJudgedAnew(t *testing.T) {
	r := newRig(t).only(watchClosing)
	r.goes("c1", 0, func(a *actor) {
		call := &protocols.Call{Func: protocols.CloseCall, Client: "c1", Context: context.Background()}
		a.Called(call)
		a.Returned(call, nil)
	})
	r.Kernel.After(time.Second, func() {
		if err := r.Crash(r.Client("c1")); err != nil {
			t.Error(err)
		}
		if err := r.RestartClient("c1"); err != nil {
			t.Error(err)
		}
		r.goes("c1", time.Second, func(a *actor) { a.sets("ABC", "v") })
	})
	r.finds(t, checker.Contract, "")
}
