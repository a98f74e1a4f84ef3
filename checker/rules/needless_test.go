package rules

import (
	"context"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

const ms = time.Millisecond

// takes has the monitors told of an acquire, in which does happens and which waits for so long at the most; 0 is a try.
func (a *actor) takes(wait time.Duration, isGranted bool, does func()) {
	a.asked++
	c := &protocols.Call{Client: a.client.Name(), Resources: []string{"r"}, Grants: []int{a.asked}, TTL: ttl}
	if wait > 0 {
		ctx, cancel := a.client.ProgramClock().WithDeadline(context.Background(), a.reads().Add(wait))
		defer cancel()
		c.Waits, c.Context = true, ctx
	}
	a.Called(c)
	does()
	var err error = redlock.ErrTaken
	if isGranted {
		err, c.Lease = nil, a.lease("v", a.reads().Add(ttl))
	}
	a.Returned(c, err)
}

func (a *actor) tries() { a.takes(0, false, func() { a.sleeps(10 * ms) }) }

// clocks changes the clocks of A and B after 100 ms.
func (a *actor) clocks(change func(*kernel.Clock)) {
	a.Kernel.After(100*ms, func() {
		change(a.Server("A").Clock())
		change(a.Server("B").Clock())
	})
}

// waits is an acquire that waits in vain, or until it is granted.
func (a *actor) waits(d time.Duration, isGranted bool) {
	a.takes(time.Hour, isGranted, func() { a.sleeps(d) })
}

// links are those of client c1 to nodes.
func (r *rig) links(nodes string, does func(*network.Link)) {
	for _, n := range nodes {
		does(r.Network.Link("c1", string(n)))
	}
}

const refusedFree = `c1 tries to take the lock on "r" and is refused, although nothing is in the way: nobody else asks for it or has it, and `

// What is in the way of a try is there from the beginning, or does something in its middle, after 5 ms.
func TestTriesAreRefusedForAReason(t *testing.T) {
	for _, c := range []struct {
		name  string
		first func(*rig)
		then  func(*rig)
		want  string
	}{
		{"nothing", nil, nil, refusedFree + "A, B and C of 3 nodes are up, free and in reach"},
		{"one node down", func(r *rig) { _ = r.Server("B").Kill() }, nil, refusedFree + "A and C of 3"},
		{"two nodes down", func(r *rig) { _ = r.Server("B").Kill(); _ = r.Server("C").Kill() }, nil, ""},
		{"two nodes go down", nil, func(r *rig) { _ = r.Server("B").Kill(); _ = r.Server("C").LosePower() }, ""},
		{"two nodes paused", func(r *rig) { r.Server("B").Pause(); r.Server("C").Pause() }, nil, ""},
		{"one way cut", func(r *rig) { r.links("A", func(l *network.Link) { l.Cut(network.Requests) }) }, nil, refusedFree + "B and C of 3"},
		{"two ways cut", nil, func(r *rig) { r.links("AB", func(l *network.Link) { l.Cut(network.Replies) }) }, ""},
		{"two ways cut and mended", nil, func(r *rig) {
			r.links("AB", func(l *network.Link) { l.Cut(network.Requests); l.Mend(network.Requests) })
		}, ""},
		{"two ways cut and mended as it begins", func(r *rig) {
			r.goes("c1", 100*ms, func(a *actor) { // whose try follows
				r.Kernel.After(0, func() {
					r.links("AB", func(l *network.Link) { l.Cut(network.Requests); l.Mend(network.Requests) })
				})
			})
		}, nil, ""},
		{"two ways held", nil, func(r *rig) { r.links("AB", func(l *network.Link) { l.Hold(network.Both) }) }, ""},
		{"two ways slow", func(r *rig) { r.links("AB", func(l *network.Link) { l.Delay(network.Both, ms) }) }, nil, ""},
		{"a network as slow as the timeout", func(r *rig) {
			r.links("ABC", func(l *network.Link) { l.SetLatency(network.Requests, network.Uniform(0, 25*ms)) })
		}, nil, ""},
		{"another client's ways cut", func(r *rig) {
			for _, n := range []string{"A", "B", "C"} {
				r.Network.Link("c2", n).Cut(network.Both)
			}
		}, nil, refusedFree + "A, B and C"},
		{"a pause", nil, func(r *rig) { r.Client("c1").Pause(); r.Client("c1").Resume() }, ""},
		{"a clock that is fast", func(r *rig) { r.Client("c1").Clock().SetRate(1000) }, nil, ""},
		{"a clock that is stepped", nil, func(r *rig) { r.Client("c1").Clock().Step(time.Second) }, ""},
		{"a node's clock that is stepped", nil, func(r *rig) { r.Server("A").Clock().Step(time.Second) }, refusedFree + "A, B and C"},
		{"somebody who asks", func(r *rig) { r.goes("c2", 0, func(a *actor) { a.waits(200*ms, false) }) }, nil, ""},
		{"somebody who asked before", func(r *rig) { r.goes("c2", 0, func(a *actor) { a.waits(50*ms, false) }) }, nil, refusedFree + "A, B and C"},
		{"somebody who has it", func(r *rig) { r.goes("c2", 0, func(a *actor) { a.waits(ms, true) }) }, nil, ""},
		{"a client that is closed", func(r *rig) { r.goes("c1", 0, func(a *actor) { a.call(protocols.CloseCall, nil, nil, nil) }) }, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			if c.first != nil {
				c.first(r)
			}
			if c.then != nil {
				r.Kernel.After(105*ms, func() { c.then(r) })
			}
			r.goes("c1", 100*ms, (*actor).tries)
			r.finds(t, checker.NeedlesslyUnavailable, c.want)
		})
	}
}

// A vote that is overwritten by hand is in the way of whom it was for.
func TestTriesAreRefusedForWhatIsNoVote(t *testing.T) {
	for nodes, want := range map[string]string{"": refusedFree + "A, B and C", "A": refusedFree + "B and C", "AB": ""} {
		t.Run(nodes, func(t *testing.T) {
			r := newRig(t)
			r.goes("c1", 100*ms, func(a *actor) {
				a.takes(0, false, func() {
					a.sets("AB", "v")
					for _, n := range nodes {
						a.Server(string(n)).Put(redis.Record{Key: "r", Value: redis.ListValue([]string{"x"})})
						a.Record(history.Event{Kind: history.Fault, Name: "overwrite", Node: string(n)})
					}
					a.sleeps(10 * ms)
				})
			})
			r.finds(t, checker.NeedlesslyUnavailable, want)
		})
	}
}

// Votes that were sent at the moment at which another call of the client gave up may be for that one.
func TestTriesAreRefusedForVotesOfWhoGaveUp(t *testing.T) {
	for gaveUp, want := range map[time.Duration]string{100 * ms: "", 90 * ms: refusedFree + "A, B and C"} {
		t.Run(gaveUp.String(), func(t *testing.T) {
			r := newRig(t)
			r.goes("c1", 0, func(a *actor) { a.waits(gaveUp, false) })
			r.goes("c1", 100*ms, func(a *actor) { a.tries() })
			r.goes("c1", 100*ms, func(a *actor) { a.asks("A", "SET", "r", "w") })
			r.goes("c1", 100*ms, func(a *actor) { a.asks("B", "SET", "r", "w") })
			r.finds(t, checker.NeedlesslyUnavailable, want)
		})
	}
}

// c2 sets keys before c1 tries, at 100 ms.
func TestTriesAreRefusedForKeys(t *testing.T) {
	for _, c := range []struct {
		name string
		does func(*actor)
		want string
	}{
		{"of a quorum", func(a *actor) { a.sets("AB", "w") }, ""},
		{"of one node", func(a *actor) { a.sets("A", "w") }, refusedFree + "B and C"},
		{"that are gone", func(a *actor) { a.sets("AB", "w"); a.asks("AB", "DEL", "r") }, refusedFree + "A, B and C"},
		{"that go meanwhile", func(a *actor) { a.sets("AB", "w"); a.sleeps(100 * ms); a.asks("AB", "DEL", "r") }, ""},
		{"that have run out", func(a *actor) { a.asks("AB", "SET", "r", "w", "PX", "50") }, refusedFree + "A, B and C"},
		{"that run out meanwhile", func(a *actor) { a.asks("AB", "SET", "r", "w", "PX", "100") }, ""},
		{"that come meanwhile", func(a *actor) { a.sleeps(100 * ms); a.sets("AB", "w") }, ""},
		{"of other locks", func(a *actor) { a.asks("ABC", "SET", "s", "w") }, refusedFree + "A, B and C"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.goes("c2", 0, c.does)
			r.goes("c1", 100*ms, (*actor).tries)
			r.finds(t, checker.NeedlesslyUnavailable, c.want)
		})
	}
}

// A node with the restart guard counts as free only when the guard lets it vote.
func TestTriesAndTheGuard(t *testing.T) {
	for _, c := range []struct {
		name, record string
		want         string
	}{
		{"quarantine", " 1000 10000", ""},
		{"fit to vote", " 0 10000", refusedFree + "A, B and C"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(own *protocols.RedlockSettings) { own.Guard = &protocols.Guard{MaxTTL: ttl} })
			r.goes("c2", 0, func(a *actor) {
				for _, n := range []string{"A", "B", "C"} {
					a.asks(n, "SET", driver.GuardKey, r.Server(n).RunID()+c.record)
				}
			})
			r.goes("c1", 100*ms, (*actor).tries)
			r.finds(t, checker.NeedlesslyUnavailable, c.want)
		})
	}
}

// A node with a fencing counter that votes have not raised so far, or above which there is no token, does not count as free.
func TestTriesAndTheCounters(t *testing.T) {
	const key = "redlock:token:r"
	byHand := func(nodes string) func(*actor) {
		return func(a *actor) {
			for _, n := range nodes {
				a.Server(string(n)).Put(redis.Record{Key: key, Value: "5"})
			}
		}
	}
	byVotes := func(token string) func(*actor) {
		return func(a *actor) { a.asks("ABC", "SET", key, token) }
	}
	for _, c := range []struct {
		name string
		does func(*actor)
		want string
	}{
		{"raised by votes", byVotes("5"), refusedFree + "A, B and C"},
		{"raised by votes to the last but one", byVotes("9007199254740990"), refusedFree + "A, B and C"},
		{"raised by votes far above another", func(a *actor) { a.asks("AB", "SET", key, "4294967297") }, ""},
		{"raised by votes less far above another", func(a *actor) { a.asks("AB", "SET", key, "4294967296") }, refusedFree + "A, B and C"},
		{"raised by votes to the largest", byVotes("9007199254740991"), ""},
		{"set by hand on one node", byHand("A"), refusedFree + "B and C"},
		{"set by hand on a quorum", byHand("AB"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(own *protocols.RedlockSettings) { own.Fencing = true })
			r.goes("c2", 0, c.does)
			r.goes("c1", 100*ms, (*actor).tries)
			r.finds(t, checker.NeedlesslyUnavailable, c.want)
		})
	}
}

// With these settings one client that asks has the lock after 2 × (50 ms + 50 ms + 150 ms) + 1 ms.
func TestWaitingEnds(t *testing.T) {
	const late = `c1 waits for the lock on "r" and is not granted it in `
	for _, c := range []struct {
		name string
		does func(*actor)
		want string
	}{
		{"in vain, not for long", func(a *actor) { a.waits(501*ms, false) }, ""},
		{"in vain", func(a *actor) { a.waits(502*ms, false) }, late + "502ms"},
		{"granted", func(a *actor) { a.waits(501*ms, true) }, ""},
		{"granted late", func(a *actor) { a.waits(502*ms, true) }, late + "502ms"},
		{"to the end", func(a *actor) { a.waits(time.Hour, false) }, late + "1m0s"},
		{"behind a key", func(a *actor) { a.takes(time.Hour, true, func() { a.sets("AB", "v"); a.sleeps(400 * ms) }) }, ""},
		{"behind its own vote", func(a *actor) { a.takes(time.Hour, false, func() { a.sets("AB", "v"); a.sleeps(time.Second) }) }, late + "1.004s"},
		{"behind a vote from before", func(a *actor) { a.sets("AB", "v"); a.waits(time.Second, false) }, ""},
		{"behind a vote that was not taken back for a fault", func(a *actor) {
			a.takes(time.Hour, false, func() {
				a.sets("AB", "v")
				a.links("AB", func(l *network.Link) { l.Cut(network.Both); l.Mend(network.Both) })
				a.sleeps(time.Second)
			})
		}, ""},
		{"as messages are lost", func(a *actor) {
			a.links("AB", func(l *network.Link) { l.Cut(network.Requests) })
			a.takes(time.Hour, false, func() { a.client.Go(func() { a.sets("AB", "v") }); a.sleeps(time.Second) })
		}, ""},
		{"as connections break", func(a *actor) {
			a.goes("c1", 300*ms, func(b *actor) { b.asks("B", "SET", "s", "w") })
			a.goes("c1", 300*ms, func(b *actor) { b.asks("A", "SET", "s", "w") })
			a.Kernel.After(301*ms, func() { a.links("AB", (*network.Link).Reset) })
			a.waits(800*ms, false)
		}, ""},
		{"for another client's release", func(a *actor) {
			a.goes("c2", 300*ms, func(b *actor) { b.asks("ABC", "DEL", "r") })
			a.sets("ABC", "w")
			a.waits(790*ms, true)
		}, ""},
		{"after another client's release", func(a *actor) {
			a.goes("c2", 300*ms, func(b *actor) { b.asks("ABC", "DEL", "r") })
			a.sets("ABC", "w")
			a.waits(900*ms, true)
		}, late},
		{"behind keys that last longer as the nodes' clocks are set back", func(a *actor) {
			a.asks("AB", "SET", "r", "w", "PX", "300")
			a.clocks(func(c *kernel.Clock) { c.Step(-500 * ms) })
			a.waits(900*ms, true)
		}, ""},
		{"behind keys that end sooner as the nodes' clocks are set forward", func(a *actor) {
			a.asks("AB", "SET", "r", "w", "PX", "900")
			a.clocks(func(c *kernel.Clock) { c.Step(800 * ms) })
			a.waits(800*ms, true)
		}, late + "699.999999ms"},
		{"behind keys that last longer as the nodes' clocks are slow", func(a *actor) {
			a.asks("AB", "SET", "r", "w", "PX", "30000")
			a.clocks(func(c *kernel.Clock) { c.SetRate(-kernel.MaxRate / 5) })
			a.waits(31*time.Second, true)
		}, ""},
		{"behind a lease of its own client", func(a *actor) {
			a.takes(0, true, func() {})
			a.waits(time.Second, false)
		}, ""},
		{"after a lease of its own client", func(a *actor) {
			l := a.lease("v", a.reads().Add(ttl))
			a.call(protocols.AcquireCall, l, nil, nil)
			a.client.Go(func() { a.waits(time.Second, false) })
			a.sleeps(100 * ms)
			a.call(protocols.ReleaseCall, l, nil, func() { a.sleeps(10 * ms) })
		}, late + "890ms"},
		{"behind a vote by which another call of its client has the lock", func(a *actor) {
			a.client.Go(func() { a.waits(2*time.Second, false) })
			a.takes(time.Hour, true, func() { a.sleeps(ms); a.sets("AB", "v") })
			a.sets("C", "v") // arrives late
			a.Record(history.Event{Kind: history.Expire, Process: "c1", Grant: 1, Resource: "r"})
		}, ""},
		{"one of several in one client", func(a *actor) {
			a.client.Go(func() { a.waits(600*ms, false) })
			a.waits(600*ms, false)
		}, late + "600ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.goes("c1", 0, c.does)
			r.finds(t, checker.NeedlesslyUnavailable, c.want)
		})
	}
}

// Several clients that ask must have the lock later than one, unless somebody else asks, too, meanwhile; and only if all nodes
// are in order.
func TestContentionEnds(t *testing.T) {
	for _, c := range []struct {
		name   string
		length time.Duration
		does   func(*rig)
		want   string
	}{
		{"in vain, not for long", 2 * time.Second, nil, ""},
		{"in vain", 20 * time.Second, nil, `c1 waits for the lock on "r" and is not granted it in 20s, although nothing is in the way, and neither is any of the 2 who ask`},
		{"with others", 20 * time.Second, func(r *rig) {
			for i := range 40 {
				r.goes("c2", time.Duration(i)*time.Second/2, (*actor).tries)
			}
		}, ""},
		{"without a node", 20 * time.Second, func(r *rig) { r.Server("C").Pause() }, ""},
		{"with a way that is slow", 20 * time.Second, func(r *rig) { r.Network.Link("c2", "C").Delay(network.Replies, ms) }, ""},
		{"with a clock that is slow", 20 * time.Second, func(r *rig) { r.Client("c2").Clock().SetRate(-1000) }, ""},
		{"with one that ends", 20 * time.Second, func(r *rig) { r.Kernel.After(time.Second, func() { _ = r.Crash(r.Client("c2")) }) },
			`c1 waits for the lock on "r" and is not granted it in 19s, although nothing is in the way: nobody has it, and`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			for _, name := range []string{"c1", "c2"} {
				r.goes(name, 0, func(a *actor) { a.waits(c.length, false) })
			}
			if c.does != nil {
				c.does(r)
			}
			r.finds(t, checker.NeedlesslyUnavailable, c.want)
		})
	}
}
