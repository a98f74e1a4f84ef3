package rules

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// named is a client that is granted a lock and is told that it is on something.
func named(name string, on ...string) func(*actor) {
	return func(a *actor) {
		start := a.reads()
		a.sets("AB", "v")
		l := a.lease("v", start.Add(ttl-102*time.Millisecond))
		l.name, l.on = name, on
		a.call(protocols.AcquireCall, l, nil, nil)
		l.ends(a, redlock.ErrLost)
	}
}

func TestALeaseRestsOnVotes(t *testing.T) {
	for _, c := range []struct {
		name string
		does func(*actor)
		want string
	}{
		{"a quorum", func(a *actor) { a.acquires("AB", "v").ends(a, redlock.ErrLost) }, ""},
		{"too few", func(a *actor) { a.acquires("A", "v").ends(a, redlock.ErrLost) },
			"c1 is told that its lease lasts until 9.9s, but its keys last for so long on only 1 of the 2 nodes"},
		{"another's value", func(a *actor) {
			a.sets("B", "other")
			a.acquires("AB", "v").ends(a, redlock.ErrLost)
		}, "c1 is told"},
		{"deleted again", func(a *actor) {
			a.sets("AB", "v")
			a.asks("A", "DEL", "r")
			l := a.lease("v", a.reads().Add(ttl/2))
			a.call(protocols.AcquireCall, l, nil, nil)
			l.ends(a, redlock.ErrLost)
		}, "c1 is told"},
		{"counted from the reply", func(a *actor) {
			a.sets("AB", "v")
			a.sleeps(time.Second)
			l := a.lease("v", a.reads().Add(ttl))
			a.call(protocols.AcquireCall, l, nil, nil)
			l.ends(a, redlock.ErrLost)
		}, "c1 is told that its lease lasts until 11.004s, but its keys last for so long on only 0 of the 2"},
		{"by a clock that stands still", func(a *actor) {
			a.client.Clock().SetRate(kernel.Still)
			a.acquires("AB", "v").ends(a, redlock.ErrLost)
		}, "c1 is told that its lease lasts without an end, by its clock, which stands still, but its keys last for so long on only 0 of the 2"},
		{"over before it is returned", func(a *actor) {
			a.call(protocols.AcquireCall, a.lease("v", a.reads()), nil, nil)
			a.client.Crash()
		}, ""},
		{"a value twice", func(a *actor) {
			a.acquires("AB", "v").ends(a, redlock.ErrLost)
			a.sleeps(time.Second)
			a.acquires("AB", "v").ends(a, redlock.ErrLost)
		}, "two leases have the same value, the second is c1's"},
		{"of its names", named("r", "r"), ""},
		{"of another name", named("s", "r"), `c1 asked for the lock on "r", and its lease is named "s"`},
		{"on something else", named("r", "s"), `c1 asked for the lock on "r", and is given a lease on "s"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.goes("c1", 0, c.does)
			r.finds(t, checker.Contract, c.want)
		})
	}
}

func TestAnExtendIsForAQuorum(t *testing.T) {
	extend := func(nodes string, by time.Duration, err error) func(*actor, *lease) {
		return func(a *actor, l *lease) {
			a.sleeps(time.Second)
			start := a.reads()
			a.call(protocols.ExtendCall, l, err, func() {
				a.asks(nodes, "PEXPIRE", "r", "10000")
				l.until = start.Add(by)
			})
		}
	}
	for _, c := range []struct {
		name string
		does func(*actor, *lease)
		want string
	}{
		{"a quorum", extend("AB", ttl-102*time.Millisecond, nil), ""},
		{"one node", extend("A", ttl-102*time.Millisecond, nil), "c1 is told that its lease lasts until"},
		{"not as long as was asked for", extend("AB", ttl-200*time.Millisecond, nil), "c1's extend to 10s succeeded, but the lease ends 98ms earlier"},
		{"of a lease that has ended", func(a *actor, l *lease) {
			a.asks("AB", "DEL", "r")
			l.cancel(redlock.ErrLost)
			a.call(protocols.ExtendCall, l, redlock.ErrClosed, nil)
		}, ""},
		{"back", extend("AB", ttl/2, redlock.ErrNoQuorum), "an extend moved the end of c1's lease 3.896s back"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.goes("c1", 0, func(a *actor) {
				l := a.acquires("AB", "v")
				c.does(a, l)
				l.ends(a, redlock.ErrLost)
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
	t.Run("back, by another lock than the library's", func(t *testing.T) {
		r := newRig(t)
		r.Lock = protocols.Settings{TTL: ttl}.With("redlock-plain")
		r.goes("c1", 0, func(a *actor) {
			l := a.acquires("AB", "v")
			extend("AB", ttl/2, nil)(a, l)
			l.ends(a, redlock.ErrLost)
		})
		r.finds(t, checker.Contract, "")
	})
}

func TestAReleaseIsForAQuorum(t *testing.T) {
	for _, c := range []struct {
		name, nodes string
		err         error
		before      bool // the keys were deleted before the call
		want        string
	}{
		{"a quorum", "AB", nil, false, ""},
		{"one node", "A", nil, false, "c1's release succeeded, but only 1 of the 2 nodes that it takes have deleted its key for it"},
		{"one node, and it says so", "A", redlock.ErrNoQuorum, false, ""},
		{"nothing", "AB", nil, true, "c1's release succeeded, but only 0 of the 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.goes("c1", 0, func(a *actor) {
				l := a.acquires("AB", "v")
				if c.before {
					a.asks(c.nodes, "DEL", "r")
				}
				a.call(protocols.ReleaseCall, l, c.err, func() {
					l.cancel(redlock.ErrReleased)
					if !c.before {
						a.asks(c.nodes, "DEL", "r")
					}
				})
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}

// At the very beginning of a run, without latency, everything happens at time zero.
func TestTimeZeroIsATime(t *testing.T) {
	r := newRig(t)
	r.Network.Each(func(l *network.Link) { l.SetLatency(network.Both, network.Constant(0)) })
	r.goes("c1", 0, func(a *actor) {
		l := a.acquires("AB", "v")
		a.call(protocols.ReleaseCall, l, nil, func() {
			l.cancel(redlock.ErrReleased)
			a.asks("AB", "DEL", "r")
		})
	})
	r.finds(t, checker.Contract, "")
}
