package rules

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/network"
)

// What a client is told that replicas confirm they have acknowledged.
func TestReplicasHaveConfirmed(t *testing.T) {
	granted, extended := observe.Event{Step: observe.Granted, Resource: "r", Value: "v"}, observe.Event{Step: observe.Extended, Resource: "r", Value: "v"}
	const said = "c1 is told that its lock is "
	for _, c := range []struct {
		name string
		does func(a *actor)
		want string
	}{
		{"at once", func(a *actor) { a.sets("A", "v"); a.Observed("c1", granted) }, said + "granted, which 0 replicas of A have confirmed, and it asks for 1"},
		{"when it is confirmed", func(a *actor) { a.sets("A", "v"); a.sleeps(time.Second); a.Observed("c1", granted) }, ""},
		{"extended at once", func(a *actor) {
			a.sets("A", "v")
			a.sleeps(time.Second)
			a.Observed("c1", granted)
			a.asks("A", "PEXPIRE", "r", "15000")
			a.Observed("c1", extended)
		}, said + "extended, which 0 replicas"},
		{"extended when it is confirmed", func(a *actor) {
			a.sets("A", "v")
			a.sleeps(time.Second)
			a.Observed("c1", granted)
			a.asks("A", "PEXPIRE", "r", "15000")
			a.sleeps(time.Second)
			a.asks("A", "PEXPIRE", "r", "20000") // of which it is not told
			a.Observed("c1", extended)
		}, ""},
		{"after a failover", func(a *actor) {
			a.sets("A", "v")
			if err := a.Promote(a.Servers[0], a.Replicas[0], nil); err != nil {
				panic(err)
			}
			a.Observed("c1", granted)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRigOf(t, map[string][]string{"A": {"A2"}})
			own := protocols.Of[protocols.OneRedisSettings](protocols.Settings{}.With("one-redis"))
			own.Replicas = 1
			r.Lock = protocols.Settings{TTL: ttl, NodeTimeout: 50 * time.Millisecond}.With("one-redis")
			protocols.Change(&r.Lock, func(s *protocols.OneRedisSettings) { *s = own })
			r = r.only("replicated")
			r.Network.Link("A", "A2").Delay(network.Requests, 100*time.Millisecond)
			r.goes("c1", 0, c.does)
			r.finds(t, checker.Contract, c.want)
		})
	}
}
