package rules

import (
	"cmp"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

func (r *rig) patient() *rig {
	r.Lock.NodeTimeout = time.Second
	return r
}

func TestWhatIsAnothersIsLeftAlone(t *testing.T) {
	for _, c := range []struct{ name, what, want string }{
		{"deletes", "DEL", "c2 deletes the key of c1 on A"},
		{"changes", "SET", "c2 changes the key of c1 on A"},
		{"asks", "GET", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).patient()
			r.goes("c1", 0, func(a *actor) { a.sets("A", "v") })
			r.goes("c2", time.Second, func(a *actor) {
				words := []string{c.what, "r"}
				if c.what == "SET" {
					words = append(words, "w")
				}
				a.asks("A", words...)
			})
			r.finds(t, checker.Conduct, c.want)
		})
	}
}

// A fencing counter is nobody's: each client that gets a vote raises it, and it stays when the lock is released.
func TestCountersAreNobodys(t *testing.T) {
	r := newRig(t, func(own *protocols.RedlockSettings) { own.Fencing = true }).patient()
	r.goes("c1", 0, func(a *actor) { a.asks("ABC", "SET", "redlock:token:r", "1") })
	r.goes("c2", time.Second, func(a *actor) { a.asks("ABC", "SET", "redlock:token:r", "2") })
	r.finds(t, checker.Conduct, "")
}

func TestReleasesAreComplete(t *testing.T) {
	lateVote := func(a *actor, takesBack bool) {
		link := a.Network.Link("c1", "C")
		link.SetLatency(network.Requests, network.Constant(300*time.Millisecond))
		a.client.Go(func() {
			a.sets("C", "v") // arrives after the release
			if takesBack {
				a.asks("C", "DEL", "r")
			}
		})
		a.sleeps(10 * time.Millisecond)
		link.SetLatency(network.Requests, network.Constant(time.Millisecond))
		a.asks("ABC", "DEL", "r")
	}
	for _, c := range []struct {
		name string
		does func(*actor)
		want string
	}{
		{"everywhere", func(a *actor) { a.asks("ABC", "DEL", "r") }, ""},
		{"nowhere", func(*actor) {}, ""},
		{"not on C", func(a *actor) { a.sets("C", "v"); a.asks("AB", "DEL", "r") }, "c1 releases its keys, but never the one on C"},
		{"crashes before C", func(a *actor) { a.sets("C", "v"); a.asks("AB", "DEL", "r"); a.client.Crash() }, ""},
		{"paused before C", func(a *actor) {
			a.sets("C", "v")
			a.asks("AB", "DEL", "r")
			a.Kernel.After(time.Second, a.client.Pause)
			a.sleeps(2 * time.Second)
		}, ""},
		{"not where it has no key", func(a *actor) { a.asks("AB", "DEL", "r") }, ""},
		{"a late vote", func(a *actor) { lateVote(a, false) }, "c1 hears after its release that C has its key"},
		{"a late vote taken back", func(a *actor) { lateVote(a, true) }, ""},
		{"used again", func(a *actor) {
			a.asks("AB", "DEL", "r")
			a.sleeps(time.Second)
			a.sets("ABC", "v")
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).patient()
			r.goes("c1", 0, func(a *actor) {
				a.sets("AB", "v")
				c.does(a)
			})
			r.finds(t, checker.Conduct, c.want)
		})
	}
}

// The answer to one of several commands that were sent together may be too late where only the deadline of all is known. Or it
// may be missing, if the connection breaks behind those to others.
func TestAnAnswerToOneOfSeveralMayBeTooLate(t *testing.T) {
	const heard = "c1 hears after its release that C has its key"
	for _, c := range []struct {
		name  string
		makes func(*redis.Asked)
		want  string
	}{
		{"the only one", func(*redis.Asked) {}, heard},
		{"too late, perhaps", func(a *redis.Asked) { a.Latest = true }, ""},
		{"answered", func(a *redis.Asked) { a.Together, a.Answer = 3, driver.Accepted }, heard},
		{"not answered", func(a *redis.Asked) { a.Together, a.Answer = 3, driver.Unanswered }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := unwatched(t, nil, newRig(t).plain()).patient()
			trace.On(r.World.Events, c.makes) // before the rules are told of it
			r.Watch()
			r.goes("c1", 0, func(a *actor) {
				a.sets("AB", "v")
				link := a.Network.Link("c1", "C")
				link.SetLatency(network.Requests, network.Constant(300*time.Millisecond))
				a.client.Go(func() { a.sets("C", "v") })
				a.sleeps(10 * time.Millisecond)
				link.SetLatency(network.Requests, network.Constant(time.Millisecond))
				a.asks("ABC", "DEL", "r")
			})
			r.finds(t, checker.Conduct, c.want)
		})
	}
}

// Code that takes time may read an answer after the deadline although it came before that. Nothing says then that the vote
// counts.
func TestAnAnswerNearTheDeadlineMayBeTooLate(t *testing.T) {
	for _, c := range []struct {
		step time.Duration
		want string
	}{
		{0, "c1 hears after its release that C has its key"},
		{100 * time.Millisecond, "c1 hears after its release that C has its key"},
		{120 * time.Millisecond, ""},
	} {
		t.Run(c.step.String(), func(t *testing.T) {
			r := newRig(t).patient()
			r.StepTime = c.step
			r.goes("c1", 0, func(a *actor) {
				a.sets("AB", "v")
				link := a.Network.Link("c1", "C")
				link.SetLatency(network.Requests, network.Constant(300*time.Millisecond))
				a.client.Go(func() { a.sets("C", "v") }) // is answered 699ms before its deadline, after the release
				a.sleeps(10 * time.Millisecond)
				link.SetLatency(network.Requests, network.Constant(time.Millisecond))
				a.asks("ABC", "DEL", "r")
			})
			r.finds(t, checker.Conduct, c.want)
		})
	}
}

func TestNothingIsExtendedAfterItsRelease(t *testing.T) {
	for _, c := range []struct {
		name  string
		after bool
		want  string
	}{
		{"before", false, ""},
		{"after", true, "c1 extends its key on B, although it has begun to release it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).patient()
			r.goes("c1", 0, func(a *actor) {
				a.sets("AB", "v")
				if !c.after {
					a.asks("B", "PEXPIRE", "r", "20000")
				}
				a.asks("A", "DEL", "r")
				if c.after {
					a.asks("B", "PEXPIRE", "r", "20000")
				}
				a.asks("B", "DEL", "r")
			})
			r.finds(t, checker.Conduct, c.want)
		})
	}
}

func TestCommandsAreForTheLockAndInTime(t *testing.T) {
	for _, c := range []struct {
		name  string
		words []string
		late  time.Duration
		want  string
	}{
		{"in time", []string{"SET", "r", "v"}, -1, ""},
		{"late", []string{"SET", "r", "v"}, time.Second, "c1 sends a command to A 1s after it has stopped waiting for the answer"},
		{"a late release", []string{"DEL", "r"}, time.Second, ""},
		{"another key", []string{"SET", "lock", "v"}, -1, `c1 sends a command to A about "lock", which is no key of the lock`},
		{"a counter without fencing", []string{"SET", "redlock:token:r", "1"}, -1, `c1 sends a command to A about "redlock:token:r", which is no key of the lock`},
		{"a record without the guard", []string{"SET", "redlock:guard", "x"}, -1, `c1 sends a command to A about "redlock:guard", which is no key of the lock`},
		{"what is no lock's business", []string{"INCR", "number"}, -1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).patient()
			r.goes("c1", time.Minute/2, func(a *actor) {
				a.Conns(a.client)[0].Do(a.Kernel.Draw("test"), a.reads().Add(-c.late), rediscmd.Request{Args: c.words})
			})
			r.finds(t, checker.Conduct, c.want)
		})
	}
}

// A client that has not heard of a failover addresses a node that was a master. No client was told to address a replica that
// never was one.
func TestOnlyWhoWasNeverAMasterIsAWrongAddress(t *testing.T) {
	for _, c := range []struct {
		name    string
		happens func(*rig)
		want    string
	}{
		{"a replica", func(r *rig) { r.Network.Link("c1", "A").Redirect(r.Network.Link("c1", "A2")) },
			"c1 sends a command to A2, a replica that has never been a master"},
		{"its successor", func(r *rig) { r.promote(t, "A", "A2", "c1") }, ""},
		{"a master that became a replica, and nobody told", func(r *rig) {
			r.promote(t, "A", "A2", "c2")
			r.restart(t, "A")
			if !r.Server("A").IsReplica() {
				t.Error("A is no replica")
			}
		}, ""},
		{"a master that became a replica, by one who was told of it before", func(r *rig) {
			r.promote(t, "A", "A2", "c1")
			r.restart(t, "A")
			r.promote(t, "A2", "A", "c2")
			r.restart(t, "A2")
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRigOf(t, map[string][]string{"A": {"A2"}}).patient()
			r.Kernel.After(time.Second, func() { c.happens(r) })
			r.goes("c1", 2*time.Second, func(a *actor) { a.sets("A", "v") })
			r.finds(t, checker.Conduct, c.want)
		})
	}
}

func (r *rig) restart(t *testing.T, node string) {
	if err := cmp.Or(r.Server(node).Kill(), r.Server(node).Restart()); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) promote(t *testing.T, node, replica, client string) {
	if err := r.Promote(r.Server(node), r.Server(replica), []*kernel.Process{r.Client(client)}); err != nil {
		t.Fatal(err)
	}
}

// What happens to a client long after a release is no reason for one that did not go everywhere; what does at once is.
func TestReleasesBeforeAPause(t *testing.T) {
	for _, c := range []struct {
		name string
		at   time.Duration
		does func(*testing.T, *rig)
		want string
	}{
		{"a pause much later", 20 * time.Second, func(_ *testing.T, r *rig) { r.Client("c1").Pause(); r.Client("c1").Resume() }, "c1 releases its keys, but never the one on B"},
		{"a crash much later", 20 * time.Second, func(t *testing.T, r *rig) {
			if err := cmp.Or(r.Crash(r.Client("c1")), r.RestartClient("c1")); err != nil {
				t.Error(err)
			}
		}, "c1 releases its keys, but never the one on B"},
		{"a pause", 100 * ms, func(_ *testing.T, r *rig) { r.Client("c1").Pause(); r.Client("c1").Resume() }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).patient()
			r.goes("c1", 0, func(a *actor) { a.sets("AB", "v"); a.asks("A", "DEL", "r") })
			r.Kernel.After(c.at, func() { c.does(t, r) })
			r.finds(t, checker.Conduct, c.want)
		})
	}
}

// A program that has made a connection not long ago may have had a command wait for it.
func TestConnectionsOfPrograms(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		name string
		does func(a *actor, tries func())
		want string
	}{
		{"an extend behind a release, on a connection that is new", func(a *actor, tries func()) {
			tries()
			a.sleeps(9 * second)
			a.asks("A", "PEXPIRE", "r", "60000")
		}, ""},
		{"an extend behind a release, on an old connection", func(a *actor, tries func()) {
			tries()
			a.sleeps(11 * second)
			a.asks("A", "PEXPIRE", "r", "60000")
		}, "c1 extends its key on A, although it has begun to release it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).only("commands", func(r *Run) { r.Foreign, r.Declared = true, true })
			r.goes("c1", 0, func(a *actor) {
				a.asks("AB", "SET", "r", "v", "NX", "PX", "60000")
				a.asks("B", "DEL", "r")
				c.does(a, func() { r.tried[reaching{a.client, a.Server("A")}] = a.Kernel.Now() })
			})
			r.finds(t, checker.Conduct, c.want)
		})
	}
}

// What a script wants is told by what it calls.
func TestScriptsAreUnderstood(t *testing.T) {
	release := &rediscmd.Script{Lua: `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`}
	r := newRig(t).patient()
	r.goes("c1", 0, func(a *actor) {
		a.sets("AB", "v")
		a.Conns(a.client)[0].Do(a.Kernel.Draw("test"), a.reads().Add(time.Second), rediscmd.Request{Script: release, Keys: []string{"r"}, Argv: []string{"v"}})
	})
	r.finds(t, checker.Conduct, "c1 releases its keys, but never the one on B")
}

var _ protocols.Voted = (*lease)(nil)
