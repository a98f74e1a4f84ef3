package monitor

import (
	"context"
	"fmt"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
)

// acquiring tells of the steps of an acquire.
func acquiring(a *actor, s observe.Step, e observe.Event) {
	e.Step, e.Op, e.Resource = s, driver.OpAcquire, "r"
	a.Observed("c1", e)
}

// attempts counts calls, each of which makes one attempt.
type attempts int

func (n *attempts) next() string { *n++; return fmt.Sprint("call ", *n) }

func (n *attempts) make(a *actor, call string, end observe.Step, err error) string {
	acquiring(a, observe.AttemptStarted, observe.Event{Call: call, Attempt: 1})
	acquiring(a, end, observe.Event{Call: call, Attempt: 1, Err: err})
	return call
}

// queued is an attempt of a call that waited for it.
func (n *attempts) queued(end observe.Step, err error) func(*actor) {
	return func(a *actor) {
		call := n.next()
		acquiring(a, observe.Queued, observe.Event{Call: call})
		n.make(a, call, end, err)
	}
}

// Calls that wait give way after so many grants in a row, for the rest of a delay, and after two attempts that were cut short.
func TestWaitingCallsGiveWay(t *testing.T) {
	const ms = time.Millisecond
	var calls attempts
	waits := &protocols.Call{Func: protocols.AcquireCall, Client: "c1", Resources: []string{"r"}, Waits: true}
	grants := func(n int) func(*actor) {
		return func(a *actor) {
			for range n {
				calls.make(a, calls.next(), observe.Granted, nil)
			}
		}
	}
	isCut := &redlock.Error{Reason: redlock.ErrNoQuorum, Cause: context.Canceled}
	cut := func(a *actor) {
		calls.make(a, calls.next(), observe.Denied, isCut)
	}
	taken := func(a *actor) string {
		return calls.make(a, calls.next(), observe.Denied, &redlock.Error{Reason: redlock.ErrTaken})
	}
	yields := func(d time.Duration) func(*actor) {
		return func(a *actor) { acquiring(a, observe.Yielding, observe.Event{Call: "y", Delay: d}) }
	}
	retrying := func(a *actor) {
		acquiring(a, observe.Retrying, observe.Event{Call: taken(a), Attempt: 1, Delay: 50 * ms})
	}
	leaves := func(a *actor) { // and another call comes
		a.Returned(waits, nil)
		a.Called(waits)
	}
	begins := func(a *actor) { // TryLock, before anybody waits
		a.Returned(waits, nil)
		a.Called(&protocols.Call{Func: protocols.AcquireCall, Client: "c1", Resources: []string{"r"}})
		acquiring(a, observe.AttemptStarted, observe.Event{Call: "try", Attempt: 1})
		a.Called(waits)
	}
	ends := func(a *actor) { acquiring(a, observe.Denied, observe.Event{Call: "try", Attempt: 1, Err: isCut}) }
	for _, c := range []struct {
		name  string
		steps []func(*actor)
		want  string
	}{
		{"as many as allowed", []func(*actor){grants(16)}, ""},
		{"one more", []func(*actor){grants(17)}, "c1 asks for the lock on r after 16 grants in a row, and other processes had no turn. (1)"},
		{"gives way", []func(*actor){grants(16), yields(50 * ms), grants(16)}, ""},
		{"one more after it gave way", []func(*actor){grants(16), yields(50 * ms), grants(17)}, "c1 asks for the lock on r after 16 grants"},
		{"another process had its turn", []func(*actor){grants(10), func(a *actor) { taken(a) }, grants(16)}, ""},
		{"a line that nobody stood in", []func(*actor){grants(10), leaves, grants(16)}, ""},
		{"gives way early", []func(*actor){grants(15), yields(50 * ms)}, "c1 does not ask for the lock on r for 50ms, after 15 grants in a row: it gives way after 16. (1)"},
		{"gives way twice", []func(*actor){grants(16), yields(50 * ms), func(a *actor) { a.sleeps(50 * ms) }, yields(50 * ms)}, "c1 does not ask for the lock on r for 50ms, after 0 grants"},
		{"rest of a delay", []func(*actor){retrying, func(a *actor) { a.sleeps(20 * ms) }, yields(30 * ms), func(a *actor) { a.sleeps(10 * ms) }, yields(20 * ms)}, ""},
		{"more than the rest of a delay", []func(*actor){retrying, func(a *actor) { a.sleeps(20 * ms) }, yields(40 * ms)}, "c1 does not ask for the lock on r for 40ms"},
		{"cut short once", []func(*actor){cut, grants(1)}, ""},
		{"cut short once, and gives way", []func(*actor){cut, yields(50 * ms)}, "c1 does not ask for the lock on r for 50ms"},
		{"cut short twice, and gives way", []func(*actor){cut, cut, yields(50 * ms)}, ""},
		{"cut short twice", []func(*actor){cut, cut, func(a *actor) { a.sleeps(5 * ms) }, grants(1)}, "c1 asks for the lock on r 5ms after the second attempt in a row that its caller cut short, and must wait for 50ms at least. (1)"},
		{"cut short twice, and waits", []func(*actor){cut, cut, yields(50 * ms), func(a *actor) { a.sleeps(50 * ms) }, grants(1)}, ""},
		{"cut short twice, beside TryLock", []func(*actor){begins, calls.queued(observe.Denied, isCut), calls.queued(observe.Denied, isCut), calls.queued(observe.Granted, nil)}, "c1 asks for the lock on r 0s after the second attempt"},
		{"cut short twice, and then TryLock", []func(*actor){begins, calls.queued(observe.Denied, isCut), calls.queued(observe.Denied, isCut), func(a *actor) { a.sleeps(50 * ms) }, ends, calls.queued(observe.Granted, nil)}, ""},
		{"TryLock beside", []func(*actor){func(a *actor) {
			a.Called(&protocols.Call{Func: protocols.AcquireCall, Client: "c1", Resources: []string{"r"}})
		}, grants(17)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(own *protocols.RedlockSettings) { own.RetryDelay.Min, own.RetryDelay.Max = 50*ms, 100*ms }).only(watchPacing)
			r.goes("c1", time.Second, func(a *actor) {
				a.Called(waits)
				for _, s := range c.steps {
					s(a)
				}
			})
			r.finds(t, checker.Conduct, c.want)
		})
	}
}
