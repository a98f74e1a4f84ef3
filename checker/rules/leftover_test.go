package rules

import (
	"cmp"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// denied has a client ask all nodes in vain, and be told so.
func (a *actor) denied(does func()) {
	a.call(protocols.AcquireCall, nil, nil, func() {
		a.sets("ABC", "v")
		a.Observed(a.client.Name(), observe.Event{Step: observe.Denied, Op: driver.OpAcquire, Resource: "r", Value: "v"})
		if does != nil {
			does()
		}
	})
}

func TestNoKeyOutlivesItsLock(t *testing.T) {
	const still = "c1 has let go of the lock for 125ms, but its key still stands on "
	deletes := func(nodes string) func(*actor) {
		return func(a *actor) { a.asks(nodes, "DEL", "r") }
	}
	for _, c := range []struct {
		name string
		does func(*actor)
		want string
	}{
		{"a failed attempt is released", func(a *actor) { a.denied(func() { deletes("ABC")(a) }) }, ""},
		{"a lock that counts is given back", func(a *actor) {
			a.call(protocols.AcquireCall, nil, nil, func() {
				a.asks("ABC", "HINCRBY", "r", "c1:1", "1")
				a.asks("ABC", "PEXPIRE", "r", "10000")
				a.asks("ABC", "HINCRBY", "r", "c1:1", "1")
				deletes("ABC")(a)
			})
		}, ""},
		{"a lock that counts is not given back", func(a *actor) {
			a.call(protocols.AcquireCall, nil, nil, func() {
				a.asks("ABC", "HINCRBY", "r", "c1:1", "1")
				a.asks("ABC", "PEXPIRE", "r", "10000")
				deletes("AC")(a)
			})
		}, still + "B"},
		{"a failed attempt is not released", func(a *actor) { a.denied(nil) }, still + "A"},
		{"a failed attempt is not released on C", func(a *actor) { a.denied(func() { deletes("AB")(a) }) }, still + "C"},
		{"a failed attempt is released on C, which carries out nothing", func(a *actor) {
			a.denied(func() {
				deletes("AB")(a)
				defer a.Server("C").AnswerWith(rediscmd.Status("QUEUED"))()
				deletes("C")(a)
			})
		}, ""},
		{"a failed attempt is released on C, which carried out nothing before", func(a *actor) {
			a.Server("C").AnswerWith(rediscmd.Status("QUEUED"))()
			a.denied(func() { deletes("AB")(a) })
		}, still + "C"},
		{"a failed attempt is released late", func(a *actor) { a.denied(func() { a.sleeps(200 * time.Millisecond); deletes("ABC")(a) }) }, still + "A"},
		{"nobody tells of the failed attempt", func(a *actor) {
			a.call(protocols.AcquireCall, nil, nil, func() { a.sets("ABC", "v") })
		}, still + "A"},
		{"another call may still be about it", func(a *actor) {
			a.call(protocols.AcquireCall, nil, nil, func() {
				a.call(protocols.AcquireCall, nil, nil, func() { a.sets("ABC", "v") })
				a.sleeps(time.Second)
				deletes("ABC")(a)
			})
		}, ""},
		{"a vote is asked for as its call returns, and a call for less is open", func(a *actor) {
			a.Called(&protocols.Call{Client: "c1", Resources: []string{"r"}, Grants: []int{2}, TTL: 3 * time.Millisecond})
			a.call(protocols.AcquireCall, nil, nil, nil)
			a.sets("ABC", "v")
			a.asks("ABC", "DEL", "r")
		}, ""},
		{"a lease is held", func(a *actor) { a.acquires("ABC", "v") }, ""},
		{"a lease is released", func(a *actor) {
			a.call(protocols.ReleaseCall, a.acquires("ABC", "v"), nil, func() { deletes("ABC")(a) })
		}, ""},
		{"a lease is not released on B", func(a *actor) {
			a.call(protocols.ReleaseCall, a.acquires("ABC", "v"), nil, func() { deletes("AC")(a) })
		}, still + "B"},
		{"a lease is released inside of a call", func(a *actor) {
			a.acquires("ABC", "v")
			a.Observed("c1", observe.Event{Step: observe.ReleaseStarted, Op: driver.OpRelease, Resource: "r", Value: "v"})
		}, still + "A"},
		{"a value is used again", func(a *actor) {
			a.call(protocols.ReleaseCall, a.acquires("ABC", "v"), nil, func() { deletes("ABC")(a) })
			a.acquires("ABC", "v")
		}, ""},
		{"the key runs out", func(a *actor) {
			a.call(protocols.AcquireCall, nil, nil, func() { a.asks("ABC", "SET", "r", "v", "PX", "100") })
		}, ""},
		{"the node's clock is set back when the key has run out", func(a *actor) {
			a.call(protocols.AcquireCall, nil, nil, func() { a.asks("A", "SET", "r", "v", "PX", "100") })
			a.sleeps(110 * time.Millisecond)
			a.Server("A").Clock().Step(-time.Second)
			a.sleeps(200 * time.Millisecond)
			a.asks("B", "SET", "r", "w", "PX", "1") // is looked at
		}, still + "A"},
		{"the node's clock is set back when the key has run out and was removed", func(a *actor) {
			a.call(protocols.AcquireCall, nil, nil, func() { a.asks("A", "SET", "r", "v", "PX", "100") })
			a.sleeps(110 * time.Millisecond)
			a.asks("A", "GET", "r")
			a.Server("A").Clock().Step(-time.Second)
			a.sleeps(200 * time.Millisecond)
			a.asks("B", "SET", "r", "w", "PX", "1")
		}, ""},
		{"the client crashes", func(a *actor) { a.denied(a.client.Crash) }, ""},
		{"the client is paused", func(a *actor) {
			a.denied(func() {
				a.Kernel.After(60*time.Millisecond, a.client.Resume)
				a.client.Pause()
			})
		}, ""},
		{"the node is paused", func(a *actor) {
			a.denied(func() {
				deletes("AB")(a)
				a.Server("C").Pause()
				a.sleeps(60 * time.Millisecond)
				a.Server("C").Resume()
			})
		}, ""},
		{"the node is killed and keeps its key", func(a *actor) {
			a.denied(func() {
				deletes("AB")(a)
				_ = a.Server("C").Kill()
				_ = a.Server("C").Restart()
			})
		}, ""},
		{"the key is evicted", func(a *actor) {
			a.denied(func() {
				deletes("AB")(a)
				a.Server("C").Evict(func(key string) bool { return key == "r" })
				a.Record(history.Event{Kind: history.Fault, Name: "evict", Node: "C"})
			})
		}, ""},
		{"the key is overwritten", func(a *actor) {
			a.denied(func() {
				deletes("AB")(a)
				a.Server("C").Put(redis.Record{Key: "r", Value: redis.ListValue([]string{"x"})})
				a.Record(history.Event{Kind: history.Fault, Name: "overwrite", Node: "C"})
			})
		}, ""},
		{"another key is evicted", func(a *actor) {
			a.denied(func() {
				deletes("AB")(a)
				a.Server("C").Evict(func(key string) bool { return key == "s" })
				a.Record(history.Event{Kind: history.Fault, Name: "evict", Node: "C"})
			})
		}, still + "C"},
		{"a release is lost", func(a *actor) {
			a.denied(func() {
				a.Network.Link("c1", "C").Cut(network.Requests)
				deletes("ABC")(a)
			})
		}, ""},
		{"the answer to a release is lost on another link", func(a *actor) {
			a.denied(func() {
				a.Network.Link("c1", "A").Cut(network.Replies)
				deletes("BA")(a)
			})
		}, still + "C"},
		{"the client's clock stands still", func(a *actor) {
			a.client.Clock().SetRate(kernel.Still)
			a.denied(nil)
		}, ""},
		{"the client's clock is slow", func(a *actor) {
			a.client.Clock().SetRate(-kernel.MaxRate)
			a.denied(func() { a.sleeps(100 * time.Millisecond); deletes("ABC")(a) })
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.goes("c1", 0, c.does)
			r.finds(t, checker.Leftover, c.want)
		})
	}
}

// A client that is started again has nothing of the call that it crashed in: a vote that it leaves behind is seen.
func TestKeysOfAClientThatCrashed(t *testing.T) {
	r := newRig(t)
	r.goes("c1", 0, func(a *actor) {
		a.call(protocols.AcquireCall, nil, nil, func() { a.sleeps(time.Hour) })
	})
	r.Kernel.After(100*ms, func() {
		if err := cmp.Or(r.Crash(r.Client("c1")), r.RestartClient("c1")); err != nil {
			t.Error(err)
		}
		r.goes("c1", 0, func(a *actor) {
			a.call(protocols.AcquireCall, nil, nil, func() { a.sets("ABC", "v") })
		})
	})
	r.finds(t, checker.Leftover, "c1 has let go of the lock for 125ms, but its key still stands on A")
}

func TestKeysLastNoLongerThanAskedFor(t *testing.T) {
	for _, c := range []struct {
		name string
		does func(*actor, *lease)
		want string
	}{
		{"as long as the acquire asked for", func(*actor, *lease) {}, ""},
		{"longer than the extend asked for", func(a *actor, l *lease) {
			a.call(protocols.ExtendCall, l, nil, func() { a.asks("AB", "PEXPIRE", "r", "10001") })
		}, "c1's key on A has a time to live of 10.001s, and 10s is the longest that was asked for"},
		{"as long as the extend asked for", func(a *actor, l *lease) {
			a.call(protocols.ExtendCall, l, nil, func() { a.asks("AB", "PEXPIRE", "r", "10000") })
		}, ""},
		{"as long as before, by a clock that was stepped back", func(a *actor, _ *lease) {
			s := a.Server("A")
			s.Clock().Step(-time.Second)
			key, _, _ := s.Observable().Peek("r")
			// As of a vote for a second token, which shortens no time.
			trace.Tell(a.Events, &redis.Applied{Change: redis.Change{Key: "r", Before: key, After: key}, Server: s, Client: a.client, Sent: a.Kernel.Now()})
		}, ""},
		{"no time to live any more", func(a *actor, l *lease) { a.asks("A", "SET", "r", "v") },
			"c1 has set its key on A for 125ms, and the key has no time to live"},
		{"no time to live any more, and the answer is lost", func(a *actor, l *lease) {
			a.Network.Link("c1", "A").Cut(network.Replies)
			a.asks("A", "SET", "r", "v")
		}, "c1 has set its key on A for 125ms, and the key has no time to live"},
		{"no time to live for a moment", func(a *actor, l *lease) {
			a.asks("A", "SET", "r", "v")
			a.asks("A", "PEXPIRE", "r", "10000")
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.goes("c1", 0, func(a *actor) { c.does(a, a.acquires("ABC", "v")) })
			r.finds(t, checker.Leftover, c.want)
		})
	}
	t.Run("longer than the acquire asked for", func(t *testing.T) {
		r := newRig(t)
		r.goes("c1", 0, func(a *actor) {
			a.call(protocols.AcquireCall, nil, nil, func() { a.asks("A", "SET", "r", "v", "PX", "20000") })
		})
		r.finds(t, checker.Leftover, "c1's key on A has a time to live of 20s, and 10s is the longest that was asked for")
	})
}

// Code that takes time may read an answer after the deadline although it came before that. A client that does not know of its
// key leaves it to its TTL.
func TestAnAnswerThatMayBeTooLateMeansThatAKeyMayStay(t *testing.T) {
	const still = "c1 has let go of the lock for 125ms, but its key still stands on A"
	for step, want := range map[time.Duration]string{0: still, 166 * time.Millisecond: still, 167 * time.Millisecond: ""} {
		t.Run(step.String(), func(t *testing.T) {
			r := newRig(t)
			r.StepTime = step
			r.goes("c1", 0, func(a *actor) { a.denied(nil) }) // is answered 998ms before the deadline of a second
			r.finds(t, checker.Leftover, want)
		})
	}
}
