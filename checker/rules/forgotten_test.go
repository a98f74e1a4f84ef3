package rules

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/network"
)

// An acquire that has failed asks for the removal of each key that it has set, whatever it has heard, or cannot.
func TestProgramsForgetNoKey(t *testing.T) {
	const forgot = "c1 was told at 2ms that it does not have the lock, but had set its key on A, and has asked nobody to remove it"
	failed := func(err error, does func(*actor)) func(*actor) {
		return func(a *actor) { a.call(protocols.AcquireCall, nil, err, func() { does(a) }) }
	}
	sets := func(a *actor) { a.sets("A", "v") }
	for _, c := range []struct {
		name string
		does func(*actor)
		want string
	}{
		{"refused", failed(redlock.ErrTaken, sets), forgot},
		{"not known", failed(redlock.ErrNoQuorum, sets), forgot},
		{"not known, and no answer was heard", failed(redlock.ErrNoQuorum, func(a *actor) {
			a.Network.Link("c1", "A").Cut(network.Replies)
			sets(a)
		}), "c1 was told at"},
		{"removed in the call", failed(redlock.ErrNoQuorum, func(a *actor) { sets(a); a.asks("A", "DEL", "r") }), ""},
		{"removed soon after it", func(a *actor) {
			failed(redlock.ErrNoQuorum, sets)(a)
			a.sleeps(time.Second)
			a.asks("A", "DEL", "r")
		}, ""},
		{"removed too late", func(a *actor) {
			failed(redlock.ErrNoQuorum, sets)(a)
			a.sleeps(3 * time.Second)
			a.Record(history.Event{Kind: history.Fault, Name: "evict", Node: "C"}) // at which it is looked
			a.asks("A", "DEL", "r")
		}, forgot},
		{"removed in vain", failed(redlock.ErrNoQuorum, func(a *actor) {
			sets(a)
			a.Network.Link("c1", "A").Cut(network.Requests)
			a.asks("A", "DEL", "r")
		}), ""},
		{"over before anybody would remove it", failed(redlock.ErrNoQuorum, func(a *actor) { a.asks("A", "SET", "r", "v", "PX", "500") }), ""},
		{"a crash", func(a *actor) { failed(redlock.ErrNoQuorum, sets)(a); _ = a.World.Crash(a.client) }, ""},
		{"of another call, which has the lock", func(a *actor) {
			failed(redlock.ErrNoQuorum, func(a *actor) { a.acquires("ABC", "v") })(a)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).program(func(*Run) {})
			r.goes("c1", 0, c.does)
			r.finds(t, checker.Leftover, c.want)
		})
	}
}
