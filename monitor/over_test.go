package monitor

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/redis"
)

// A lease that is over is not extended, and whoever releases it is told that it was lost.
func TestCallsAboutALeaseThatIsOver(t *testing.T) {
	after := func(l *lease, a *actor, d time.Duration) { a.sleeps(l.until.Sub(a.reads()) + d) }
	asks := func(a *actor, l *lease, ago time.Duration) { // with a round that began so long ago
		for _, tell := range a.commands[redis.Sent] {
			tell(redis.Sent, &redis.Asked{Command: redis.Command{Intent: redis.Extends, Keys: []string{"r"}, Value: l.value, Deadline: a.reads().Add(a.Lock.NodeTimeout - ago)},
				Server: a.Server("A"), Client: a.client})
		}
	}
	for _, c := range []struct {
		name string
		does func(*actor, *lease)
		want string
	}{
		{"in time", func(a *actor, l *lease) {
			after(l, a, -time.Millisecond)
			a.call(protocols.ExtendCall, l, nil, nil)
			a.call(protocols.ReleaseCall, l, nil, nil)
		}, ""},
		{"released as if it were not", func(a *actor, l *lease) {
			after(l, a, 0)
			a.call(protocols.ReleaseCall, l, nil, nil)
		}, `c1's release of a lease that was over returns "success"`},
		{"released after it was told", func(a *actor, l *lease) {
			l.cancel(redlock.ErrLost)
			a.call(protocols.ReleaseCall, l, redlock.ErrNoQuorum, nil)
		}, `c1's release of a lease that was over returns "no quorum`},
		{"told", func(a *actor, l *lease) {
			after(l, a, 0)
			a.call(protocols.ExtendCall, l, redlock.ErrLost, nil)
			a.call(protocols.ReleaseCall, l, redlock.ErrLost, nil)
			a.call(protocols.ReleaseCall, l, redlock.ErrReleased, nil)
		}, ""},
		{"extended", func(a *actor, l *lease) {
			after(l, a, 0)
			a.call(protocols.ExtendCall, l, nil, nil)
		}, "c1 extended a lease that was over"},
		{"asks to extend it", func(a *actor, l *lease) {
			after(l, a, 0)
			a.call(protocols.ExtendCall, l, redlock.ErrLost, func() { asks(a, l, 0) })
		}, "c1 asks A to extend a lease that was over when the extend was called. (1)"},
		{"an extend before asks to", func(a *actor, l *lease) {
			after(l, a, 0)
			a.call(protocols.ExtendCall, l, redlock.ErrLost, func() { asks(a, l, time.Millisecond) })
		}, ""},
		{"another asks to extend it", func(a *actor, l *lease) {
			after(l, a, -time.Millisecond)
			a.call(protocols.ExtendCall, l, redlock.ErrLost, func() {
				after(l, a, 0)
				a.call(protocols.ExtendCall, l, redlock.ErrLost, func() { asks(a, l, 0) })
			})
		}, ""},
		{"extended too late", func(a *actor, l *lease) {
			after(l, a, -time.Millisecond)
			a.call(protocols.ExtendCall, l, nil, func() { a.sleeps(3 * time.Millisecond) })
		}, "c1's extend succeeded 2ms after its lease was over"},
		{"extended, and paused before it could return", func(a *actor, l *lease) {
			after(l, a, -time.Millisecond)
			a.call(protocols.ExtendCall, l, nil, func() {
				for _, tell := range a.steps.of(observe.Extended) {
					tell("c1", &observe.Event{Step: observe.Extended, Value: "v"})
				}
				a.sleeps(3 * time.Millisecond)
			})
		}, ""},
		{"extended meanwhile", func(a *actor, l *lease) {
			after(l, a, -time.Millisecond)
			a.call(protocols.ExtendCall, l, nil, func() { l.until = l.until.Add(ttl) })
			after(l, a, -ttl+time.Millisecond)
			a.call(protocols.ExtendCall, l, nil, nil)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).only(watchOvers) // what becomes of contexts and keys is for others to judge
			r.goes("c1", 0, func(a *actor) { c.does(a, a.acquires("AB", "v")) })
			r.finds(t, checker.Contract, c.want)
		})
	}
}

// Code that takes time may come to its return after the end of a lease that was extended before.
func TestAnExtendThatReturnsLate(t *testing.T) {
	for _, c := range []struct {
		takes time.Duration
		want  string
	}{{0, "c1's extend succeeded "}, {10 * time.Millisecond, ""}} {
		r := newRig(t)
		r.onCall, r.onReturn, r.onEvent, r.onEnd = nil, nil, nil, nil
		r.StepTime = c.takes
		watchOvers(r.Run)
		r.goes("c1", 0, func(a *actor) {
			l := a.acquires("AB", "v")
			a.sleeps(l.until.Sub(a.reads()) - time.Millisecond)
			a.call(protocols.ExtendCall, l, nil, func() { a.sleeps(3 * time.Millisecond) })
		})
		r.finds(t, checker.Contract, c.want)
	}
}
