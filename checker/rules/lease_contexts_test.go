package rules

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

func TestAContextEndsWithItsLease(t *testing.T) {
	for _, c := range []struct{ name, does, want string }{
		{"lost in time", "ends v lost", ""},
		{"never", "", "c1's lease ended 50.096s ago by its monotonic clock, and the lease's context goes on"},
		{"with no cause", "ends v", "the cause with which the context of c1's lease ends is neither"},
		{"released by nobody", "ends v released", "c1's lease ends because it was released, says its context"},
		{"released", "release v; ended v released; returns no-quorum", ""},
		{"goes on after the release", "release v; returns no-quorum; ends v lost", "c1 has released the lock, but the lease's context goes on"},
		{"goes on after it was lost", "extend v; returns lost; ends v lost", "c1 is told by an extend that its lease is lost"},
		{"late", "10s; extend v; returns no-quorum; ended v lost", "c1's lease ended 100ms ago"},
		{"late because of a pause", "in 1s pause; in 20s resume; ends v lost", ""},
		{"crashed", "in 0s crash; 1s", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.does("c1", "acquire; SET r v PX 10000 on AB; granted v; "+c.does)
			r.finds(t, checker.Contract, c.want)
		})
	}
}

// The context of a lease of the library ends a twentieth of the TTL before it, or what is set; but never by more than half of
// what it had left. An extend that does not move the end does not move that either.
func TestAContextEndsBeforeItsLease(t *testing.T) {
	const second = time.Second
	extends := func(a *actor, l *lease, d time.Duration, to time.Time, meanwhile func()) {
		c := &protocols.Call{Func: protocols.ExtendCall, Client: "c1", Resources: []string{"r"}, Grants: []int{1}, TTL: d, Lease: l}
		a.Called(c)
		l.until = to
		if meanwhile != nil {
			meanwhile()
		}
		a.Returned(c, nil)
	}
	lost := func(a *actor, l *lease, early time.Duration) {
		a.sleeps(l.until.Sub(a.reads()) - early)
		l.cancel(redlock.ErrLost)
		a.Record(history.Event{Kind: history.Step, Process: "c1", Name: observe.Lost.String(), Op: 1, Resource: "r"})
	}
	for _, c := range []struct {
		name string
		set  time.Duration // the loss lead
		does func(*actor, *lease)
		want string
	}{
		{"in time", 0, func(a *actor, l *lease) { lost(a, l, second/2) }, ""},
		{"late", 0, func(a *actor, l *lease) { lost(a, l, second/10) },
			"c1's lease ends in 100ms by its monotonic clock, and the lease's context, which is to end 500ms before it, ends only now"},
		{"never", 0, func(a *actor, l *lease) {
			a.sleeps(l.until.Sub(a.reads()) - second/10)
			a.call(protocols.ExtendCall, l, redlock.ErrNoQuorum, nil)
			l.cancel(redlock.ErrLost)
		}, "c1's lease ends in 100ms by its monotonic clock, and the lease's context, which is to end 500ms before it, goes on"},
		{"late by what is set", 3 * second, func(a *actor, l *lease) { lost(a, l, 2*second) }, "c1's lease ends in 2s"},
		{"half of it", 30 * second, func(a *actor, l *lease) { lost(a, l, 4950*time.Millisecond) }, ""},
		{"late after a shorter extend that does not move the end", 0, func(a *actor, l *lease) {
			extends(a, l, second, l.until, nil)
			lost(a, l, second/20)
		}, "c1's lease ends in 50ms"},
		{"after a shorter extend that does", 0, func(a *actor, l *lease) {
			a.sleeps(9 * second)
			extends(a, l, 2*second, a.reads().Add(2*second), nil)
			lost(a, l, second/10)
		}, ""},
		{"after one of two extends at once", 0, func(a *actor, l *lease) {
			extends(a, l, 2*second, l.until.Add(second), func() { extends(a, l, 20*second, l.until.Add(second), nil) })
			lost(a, l, second/10)
		}, ""},
		{"late because of a pause", 0, func(a *actor, l *lease) {
			a.Kernel.After(second, a.client.Pause)
			a.Kernel.After(9800*time.Millisecond, a.client.Resume)
			lost(a, l, second/2)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(own *protocols.RedlockSettings) { own.LossLead = c.set }).only("lease-contexts")
			r.goes("c1", 0, func(a *actor) { c.does(a, a.acquires("AB", "v")) })
			r.finds(t, checker.Contract, c.want)
		})
	}
}

// What code that takes time reads of a clock that stands still is not what the timer of the lease goes by.
func TestALeaseThatIsMadeWhileTheClockStandsStill(t *testing.T) {
	const late = "c1's lease ended 100ms ago by its monotonic clock, and the lease's context goes on"
	for _, c := range []struct {
		takes time.Duration
		rate  string // of the client's clock, in parts per billion
		want  string
	}{{0, "0", late}, {ms, "0", late}, {ms, "-1000000000", ""}} {
		r := newRig(t)
		r.StepTime = c.takes
		r = r.only("lease-contexts")
		r.does("c1", "1s; clock "+c.rate+"; acquire; granted v 1s; clock 0; 1100ms; evict C s") // at which it is looked
		r.finds(t, checker.Contract, c.want)
	}
}

// Code that takes time can come beyond the end of a lease before it has made it.
func TestALeaseThatIsMadeTooLateEndsAtOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		ends bool
		want string
	}{
		{"at once", true, ""},
		{"never", false, "c1's lease ended 59.98s ago"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.goes("c1", 0, func(a *actor) {
				a.client.Takes(func(kernel.Key) time.Duration { return 20 * time.Millisecond })
				l := a.lease("v", a.reads().Add(5*time.Millisecond))
				a.client.WorkClock().Now()
				if c.ends {
					a.client.ProgramClock().AfterFunc(0, func() { l.cancel(redlock.ErrLost) })
				}
				a.call(protocols.AcquireCall, l, nil, nil)
			})
			r.goes("c2", 10*time.Millisecond, func(a *actor) { a.acquires("AB", "w").ends(a, redlock.ErrLost) })
			r.finds(t, checker.Contract, c.want)
		})
	}
}
