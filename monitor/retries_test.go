package monitor

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

func TestRetriesInTime(t *testing.T) {
	const ms = time.Millisecond
	step := func(s observe.Step, value string, attempt int) observe.Event {
		return observe.Event{Step: s, Op: driver.OpAcquire, Resource: "r", Value: value, Call: "v", Attempt: attempt}
	}
	answer := func(a *actor, op driver.Op, node string, outcome driver.Outcome, late bool) {
		e := step(observe.NodeAnswered, "v", 1)
		e.Op, e.Node, e.Late = op, observe.NodeOutcome{Node: node, Outcome: outcome}, late
		a.Observed("c1", e)
	}
	for _, c := range []struct {
		name   string
		before func(*actor) // the call tells that it asks again in 100 ms
		after  func(*actor)
		asks   time.Duration // again, after that
		want   string
	}{
		{"in time", nil, nil, 100 * ms, ""},
		{"late", nil, nil, 130 * ms, "c1 asks for the lock on r again 30ms after it could have, in attempt 2. (1)"},
		{"after the release was answered", func(a *actor) { answer(a, driver.OpAcquire, "A", redlock.Declined, false) }, func(a *actor) {
			a.sleeps(120 * ms)
			answer(a, driver.OpRelease, "A", redlock.Declined, false)
		}, 120 * ms, ""},
		{"late after the release was answered", func(a *actor) { answer(a, driver.OpAcquire, "A", redlock.Declined, false) }, func(a *actor) {
			a.sleeps(120 * ms)
			answer(a, driver.OpRelease, "A", redlock.Declined, false)
		}, 130 * ms, "c1 asks for the lock on r again 10ms after it could have"},
		{"after a silent node was waited for", func(a *actor) { answer(a, driver.OpAcquire, "A", redlock.TimedOut, false) }, func(a *actor) {
			a.sleeps(120 * ms)
			answer(a, driver.OpRelease, "A", redlock.TimedOut, false)
		}, 120 * ms, "c1 asks for the lock on r again 20ms after it could have"},
		{"after a node that was late was waited for", func(a *actor) { answer(a, driver.OpAcquire, "A", redlock.Declined, true) }, func(a *actor) {
			a.sleeps(120 * ms)
			answer(a, driver.OpRelease, "A", redlock.Declined, false)
		}, 120 * ms, "c1 asks for the lock on r again 20ms after it could have"},
		{"after its turn came", nil, func(a *actor) { a.Observed("c1", step(observe.Queued, "v", 1)) }, 150 * ms, ""},
		{"after it gave way", nil, func(a *actor) { a.Observed("c1", step(observe.Yielding, "v", 1)) }, 150 * ms, ""},
		{"after a pause", nil, func(a *actor) {
			a.Kernel.After(50*ms, a.client.Resume)
			a.client.Pause()
			a.sleeps(ms)
		}, 150 * ms, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).only(watchRetries)
			r.goes("c1", 0, func(a *actor) {
				a.Observed("c1", step(observe.AttemptStarted, "v", 1))
				if c.before != nil {
					c.before(a)
				}
				told := step(observe.Retrying, "v", 1)
				told.Delay = 100 * ms
				from := a.reads()
				a.Observed("c1", told)
				if c.after != nil {
					c.after(a)
				}
				a.sleeps(from.Add(c.asks).Sub(a.reads()))
				a.Observed("c1", step(observe.AttemptStarted, "w", 2))
			})
			r.finds(t, checker.Conduct, c.want)
		})
	}
}
