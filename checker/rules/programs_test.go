package rules

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// program is a rig whose lock is somebody's.
func (r *rig) program(change func(*Run)) *rig {
	return r.only("program-releases", func(r *Run) { r.Foreign, r.Declared = true, true }, change)
}

// What a program answers is compared with its keys on three nodes, of which it needs two, or on one.
func TestProgramsAnswerWhatIsTrue(t *testing.T) {
	deletes := func(nodes string) func(*actor) {
		return func(a *actor) { a.asks(nodes, "DEL", "r") }
	}
	refused := func(does func(*actor)) func(*actor) {
		return func(a *actor) { a.call(protocols.AcquireCall, nil, redlock.ErrTaken, func() { does(a) }) }
	}
	released := func(acquires string, does func(*actor)) func(*actor) {
		return func(a *actor) {
			l := a.acquires(acquires, "v")
			a.call(protocols.ReleaseCall, l, nil, func() { does(a) })
		}
	}
	for _, c := range []struct {
		name    string
		oneNode bool
		does    func(*actor)
		want    string
	}{
		{"granted by two", false, func(a *actor) { a.acquires("AB", "v") }, ""},
		{"granted by one", false, func(a *actor) { a.acquires("A", "v") },
			"c1 is told that its lease lasts until 9.9s, but only 1 of the 2 keys that it takes do."},
		{"granted by one of one", true, func(a *actor) { a.acquires("A", "v") }, ""},
		{"granted by nobody", true, func(a *actor) { a.acquires("", "v") }, "c1 is told that its lease lasts until 9.9s, but only 0 of the 1 key"},
		{"granted with two values", false, func(a *actor) {
			a.call(protocols.AcquireCall, a.lease("v", a.reads().Add(ttl/2)), nil, func() { a.sets("A", "v"); a.sets("B", "w") })
		}, "c1 is told that its lease lasts until 5s, but only 1 of the 2"},
		{"granted for longer than the keys last", false, func(a *actor) {
			a.call(protocols.AcquireCall, a.lease("v", a.reads().Add(ttl+10*time.Millisecond)), nil, func() { a.sets("ABC", "v") })
		}, "c1 is told that its lease lasts until 10.01s, but only 0 of the 2 keys that it takes do."},
		{"extended on two", false, func(a *actor) {
			l := a.acquires("AB", "v")
			l.until = l.until.Add(ttl)
			a.call(protocols.ExtendCall, l, nil, func() { a.asks("AB", "PEXPIRE", "r", "20000") })
		}, ""},
		{"extended on one", false, func(a *actor) {
			l := a.acquires("AB", "v")
			l.until = l.until.Add(ttl)
			a.call(protocols.ExtendCall, l, nil, func() { a.asks("A", "PEXPIRE", "r", "20000") })
		}, "c1 is told that its lease lasts until 19.9"},
		{"not extended, but moved to later", false, func(a *actor) {
			l := a.acquires("AB", "v")
			a.call(protocols.ExtendCall, l, redlock.ErrNoQuorum, func() { a.asks("A", "PEXPIRE", "r", "20000"); l.until = l.until.Add(ttl) })
		}, "c1 is told that its lease lasts until 19.9"},
		{"not extended, and over earlier", false, func(a *actor) {
			l := a.acquires("AB", "v")
			a.call(protocols.ExtendCall, l, redlock.ErrNoQuorum, func() { a.asks("A", "PEXPIRE", "r", "20000") })
		}, ""},
		{"refused with nothing", false, refused(func(*actor) {}), ""},
		{"refused with one", false, refused(func(a *actor) { a.sets("A", "v") }), ""},
		{"refused with two", false, refused(func(a *actor) { a.sets("AB", "v") }),
			"c1 was told at 4ms that it was refused the lock, but had set 2 keys, of 2 that it takes, and has asked nobody to remove them."},
		{"refused with one of one", true, refused(func(a *actor) { a.sets("A", "v") }), "c1 was told at 2ms that it was refused the lock, but had set 1 key, of 1"},
		{"refused with two that are removed later", false, func(a *actor) {
			refused(func(a *actor) { a.sets("AB", "v") })(a)
			deletes("AB")(a)
		}, ""},
		{"refused with two that are removed too late", false, func(a *actor) {
			refused(func(a *actor) { a.sets("AB", "v") })(a)
			a.sleeps(2 * time.Second)
			a.Record(history.Event{Kind: history.Fault, Name: "evict", Node: "C"}) // it is looked at
			deletes("AB")(a)
		}, "c1 was told"},
		{"refused with two, and a crash", false, func(a *actor) { refused(func(a *actor) { a.sets("AB", "v") })(a); _ = a.World.Crash(a.client) }, ""},
		{"refused with two of which one is removed", false, refused(func(a *actor) { a.sets("AB", "v"); deletes("A")(a) }), ""},
		{"not known, with two", false, func(a *actor) {
			a.call(protocols.AcquireCall, nil, redlock.ErrNoQuorum, func() { a.sets("AB", "v") })
		}, ""},
		{"refused with two of another call", false, func(a *actor) {
			a.call(protocols.AcquireCall, a.lease("v", a.reads().Add(ttl/2)), nil, func() { a.sets("AB", "v") })
			a.call(protocols.AcquireCall, nil, redlock.ErrTaken, nil)
		}, ""},
		{"refused while another call is granted it", false, func(a *actor) {
			a.call(protocols.AcquireCall, a.lease("v", a.reads().Add(ttl/2)), nil, func() {
				a.call(protocols.AcquireCall, nil, redlock.ErrTaken, func() { a.sets("AB", "v") })
			})
		}, ""},
		{"refused with two of a node that is down", false, refused(func(a *actor) { a.sets("AB", "v"); _ = a.Server("A").Kill() }), ""},
		{"released on all", false, released("ABC", deletes("ABC")), ""},
		{"released on two", false, released("ABC", deletes("BC")), ""},
		{"released on one", false, released("ABC", deletes("C")), "c1 is told that it has released the lock, but 2 keys of it still stand, and it takes 2."},
		{"released on one of one", true, released("A", deletes("A")), ""},
		{"released on none of one", true, released("A", func(*actor) {}), "c1 is told that it has released the lock, but 1 key of it still stand"},
		{"released when it is over, whatever is there", false, released("AB", func(a *actor) { a.sleeps(ttl + time.Second); deletes("AB")(a) }), ""},
		{"released when it is over", false, released("AB", func(a *actor) { a.sleeps(ttl + time.Second) }),
			"c1 is told that it has released the lock, which it had no more: its release has removed no key."},
		{"released when it is over on one of two", false, func(a *actor) {
			l := a.acquires("AB", "v")
			a.asks("A", "PEXPIRE", "r", "1")
			a.sleeps(10 * time.Millisecond)
			a.call(protocols.ReleaseCall, l, nil, func() { deletes("AB")(a) })
		}, ""},
		{"released with an answer that never came", false, released("AB", func(a *actor) {
			a.sleeps(ttl + time.Second)
			a.Network.Link("c1", "A").Cut(network.Replies)
			a.asks("A", "DEL", "r")
		}), ""},
		{"released with an error", false, func(a *actor) {
			l := a.acquires("ABC", "v")
			a.call(protocols.ReleaseCall, l, redlock.ErrNoQuorum, func() { deletes("C")(a) })
		}, ""},
		{"one of two leases is released", false, func(a *actor) {
			l := a.acquires("ABC", "v")
			a.acquires("ABC", "v")
			a.call(protocols.ReleaseCall, l, nil, nil)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).program(func(r *Run) { r.OneNode = c.oneNode })
			r.goes("c1", 0, c.does)
			r.finds(t, checker.Contract, c.want)
		})
	}
}

// Who believes in a lease until its lock says that it is lost is told when too few keys were renewed.
func TestProgramsTellOfLosses(t *testing.T) {
	for _, c := range []struct {
		name string
		does func(*actor, *lease)
		want string
	}{
		{"never told", func(*actor, *lease) {}, "c1 is not told that its lease is over, although too few of its keys were renewed to last beyond 10.00"},
		{"told in time", func(a *actor, l *lease) { a.sleeps(ttl); l.cancel(redlock.ErrLost) }, ""},
		{"told too late", func(a *actor, l *lease) {
			a.sleeps(ttl + 100*time.Millisecond)
			a.Record(history.Event{Kind: history.Fault, Name: "evict", Node: "C"})
			l.cancel(redlock.ErrLost)
		}, "c1 is not told"},
		{"released in time", func(a *actor, l *lease) {
			a.sleeps(ttl / 2)
			l.cancel(redlock.ErrReleased)
			a.call(protocols.ReleaseCall, l, nil, func() { a.asks("ABC", "DEL", "r") })
		}, ""},
		{"renewed", func(a *actor, l *lease) {
			for range 12 {
				a.sleeps(ttl / 2)
				a.asks("BC", "PEXPIRE", "r", "10000")
			}
			l.cancel(redlock.ErrReleased)
		}, ""},
		{"renewed on one", func(a *actor, l *lease) {
			for range 12 {
				a.sleeps(ttl / 2)
				a.asks("C", "PEXPIRE", "r", "10000")
			}
		}, "c1 is not told that its lease is over, although too few of its keys were renewed to last beyond 10.00"},
		{"paused", func(a *actor, l *lease) {
			a.Kernel.After(ttl-time.Second, func() { a.client.Pause() })
			a.sleeps(ttl - 2*time.Second)
		}, ""},
		{"crashed", func(a *actor, _ *lease) { _ = a.World.Crash(a.client) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).program(func(r *Run) { r.Renews = true })
			r.goes("c1", 0, func(a *actor) { c.does(a, a.acquires("ABC", "v")) })
			r.finds(t, checker.Contract, c.want)
		})
	}
}

// Nothing excuses an extend that extends too few keys. That keys end sooner than they were set to may be the fault of clocks.
func TestNothingExcusesAnExtendOfNothing(t *testing.T) {
	for nodes, excused := range map[string]bool{"A": false, "AB": true} {
		r := newRig(t).program(func(*Run) {})
		r.goes("c1", 0, func(a *actor) {
			l := a.acquires("AB", "v")
			l.until = l.until.Add(2 * ttl)
			a.call(protocols.ExtendCall, l, nil, func() { a.asks(nodes, "PEXPIRE", "r", "20000") })
		})
		r.Kernel.Run(kernel.True(time.Minute))
		if found := r.Findings(); len(found) != 1 || found[0].Kind != checker.Contract || found[0].Assumes != excused {
			t.Errorf("extended on %s: %+v, want one that is excused: %v", nodes, found, excused)
		}
	}
}
