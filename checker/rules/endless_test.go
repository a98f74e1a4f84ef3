package rules

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
)

func TestLeasesWithoutAnEndAreRenewed(t *testing.T) {
	renews := func(a *actor) { a.asks("A", "PEXPIRE", "r", "10000") }
	for _, c := range []struct {
		name  string
		until func(*actor) time.Time
		does  func(*actor)
		want  string
	}{
		{"renewed", nil, func(a *actor) { a.sleeps(ttl / 2); renews(a); a.sleeps(ttl - 10*time.Millisecond) }, ""},
		{"not renewed", nil, func(a *actor) { a.sleeps(ttl + time.Millisecond) },
			"c1 has a lock that it does not take to end, and has not renewed its key on A for 10.00"},
		{"not renewed a second time", nil, func(a *actor) { a.sleeps(ttl / 2); renews(a); a.sleeps(ttl + time.Millisecond) },
			"c1 has a lock that it does not take to end, and has not renewed its key on A for 10.00"},
		{"with an end", func(a *actor) time.Time { return a.reads().Add(ttl) }, func(a *actor) { a.sleeps(2 * ttl) }, ""},
		{"a renewal that the node could not do", nil, func(a *actor) { a.sleeps(ttl / 2); a.asks("A", "DEL", "r"); renews(a); a.sleeps(2 * ttl) }, ""},
		{"a client that was paused", nil, func(a *actor) {
			a.Kernel.After(0, a.client.Pause)
			a.Kernel.After(2*ttl, a.client.Resume)
			a.sleeps(ttl + time.Second)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rigOf(t, "redisson", watchEndless)
			r.goes("c1", 0, func(a *actor) {
				l := a.lease("v", time.Time{})
				if c.until != nil {
					l.until = c.until(a)
				}
				a.call(protocols.AcquireCall, l, nil, func() { a.sets("A", "v") })
				c.does(a)
				a.call(protocols.ReleaseCall, l, nil, nil)
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}

// Nothing is renewed after the last release has begun, but for a renewal whose script the node had not known.
func TestNothingIsRenewedAfterTheRelease(t *testing.T) {
	renews := func(a *actor) { a.asks("A", "PEXPIRE", "r", "10000") }
	const renewed = "c1 renews its key on A, although it has begun to release the lock 5s before"
	for _, c := range []struct {
		name   string
		grants int
		does   func(*actor, *lease)
		want   string
	}{
		{"renewed", 1, func(a *actor, _ *lease) { renews(a) }, renewed},
		{"one of two grants", 2, func(a *actor, _ *lease) { renews(a) }, ""},
		{"while it asks again", 1, func(a *actor, l *lease) { a.call(protocols.AcquireCall, nil, redlock.ErrTaken, func() { renews(a) }) }, ""},
		{"when it has asked again", 1, func(a *actor, _ *lease) {
			a.call(protocols.AcquireCall, nil, redlock.ErrTaken, nil)
			renews(a)
		}, renewed},
		{"when it has it again", 1, func(a *actor, l *lease) {
			a.call(protocols.AcquireCall, l, nil, nil)
			renews(a)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rigOf(t, "redisson", watchEndless)
			r.goes("c1", 0, func(a *actor) {
				l := a.lease("v", time.Time{})
				for range c.grants {
					a.call(protocols.AcquireCall, l, nil, func() { a.sets("A", "v") })
				}
				renews(a)
				a.call(protocols.ReleaseCall, l, nil, nil)
				a.sleeps(5 * time.Second)
				c.does(a, l)
			})
			r.finds(t, checker.Conduct, c.want)
		})
	}
	t.Run("a script that the node did not know", func(t *testing.T) {
		r := rigOf(t, "redisson", watchEndless)
		r.goes("c1", 0, func(a *actor) {
			l := a.lease("v", time.Time{})
			a.call(protocols.AcquireCall, l, nil, func() { a.sets("A", "v") })
			a.asks("A", "DEL", "r")
			renews(a) // does nothing
			a.call(protocols.ReleaseCall, l, nil, nil)
			renews(a)
		})
		r.finds(t, checker.Conduct, "")
	})
}
