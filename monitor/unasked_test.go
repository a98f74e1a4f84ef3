package monitor

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

// Who gives up before it has asked is refused for what its client was refused since its last grant, or by its own client.
func TestTheReasonOfWhoNeverAsked(t *testing.T) {
	const wrong = "c1 never asked for the lock and gives up for a reason"
	const another = 0 // not a step: the process makes another client
	denied := func(reason error) observe.Event {
		return observe.Event{Step: observe.Denied, Op: driver.OpAcquire, Resource: "r", Value: "w", Err: &redlock.Error{Op: driver.OpAcquire, Reason: reason}}
	}
	of := func(s observe.Step) observe.Event { return observe.Event{Step: s, Resource: "r", Value: "v"} }
	for _, c := range []struct {
		name     string
		steps    []observe.Event
		reason   error
		attempts int
		want     string
	}{
		{"of two clients nobody knows whose it was", []observe.Event{{Step: another}}, redlock.ErrTaken, 0, ""},
		{"none", nil, nil, 0, ""},
		{"nobody was refused", nil, redlock.ErrTaken, 0, wrong},
		{"it was refused itself", nil, redlock.ErrTaken, 1, ""},
		{"another was", []observe.Event{denied(redlock.ErrNoQuorum)}, redlock.ErrNoQuorum, 0, ""},
		{"another was, for something else", []observe.Event{denied(redlock.ErrNoQuorum)}, redlock.ErrTooLate, 0, wrong},
		{"another has it", []observe.Event{of(observe.Granted)}, redlock.ErrTaken, 0, ""},
		{"another was refused, and then granted it", []observe.Event{denied(redlock.ErrNoQuorum), of(observe.Granted)}, redlock.ErrNoQuorum, 0, wrong},
		{"another had it", []observe.Event{of(observe.Granted), of(observe.Released)}, redlock.ErrTaken, 0, wrong},
		{"another lost it", []observe.Event{of(observe.Granted), of(observe.Lost)}, redlock.ErrTaken, 0, wrong},
		{"another had it, and was refused", []observe.Event{of(observe.Granted), of(observe.Released), denied(redlock.ErrTaken)}, redlock.ErrTaken, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).only(watchUnasked)
			r.goes("c1", time.Second, func(a *actor) {
				for _, e := range c.steps {
					if e.Step == another {
						a.Called(&protocols.Call{Func: protocols.NewClientCall, Client: "c1"})
						continue
					}
					a.Observed("c1", e)
				}
				call := &protocols.Call{Client: "c1", Resources: []string{"r"}, TTL: ttl}
				a.Called(call)
				a.Returned(call, &redlock.Error{Op: driver.OpAcquire, Resource: "r", Reason: c.reason, Cause: context.Canceled, Attempts: c.attempts})
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}
