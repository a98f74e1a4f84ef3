package rules

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/network"
)

// What a client is told that replicas confirm they have acknowledged.
func TestReplicasHaveConfirmed(t *testing.T) {
	const said, extends = "c1 is told that its lock is ", "SET r v PX 10000 on A; 1s; step granted v; step extend-started v; PEXPIRE r 15000 on A; "
	for _, c := range []struct{ name, does, want string }{
		{"at once", "SET r v PX 10000 on A; step granted v", said + "granted, which 1 replicas have confirmed of 0 nodes, and it takes 1"},
		{"when it is confirmed", "SET r v PX 10000 on A; 1s; step granted v", ""},
		{"extended at once", extends + "step extended v", said + "extended, which 1 replicas have confirmed of 0 nodes"},
		{"extended when it is confirmed", extends + "1s; step extended v", ""},
		// Which of the two it is told of cannot be told.
		{"one of two that are under way", extends + "step extend-started v; 1s; PEXPIRE r 20000 on A; step extended v", ""},
		{"the next after two of which one changes nothing", extends + "step extend-started v; 1s; step extended v; step extended v; step extend-started v; " +
			"PEXPIRE r 20000 on A; step extended v", said + "extended, which 1 replicas have confirmed of 0 nodes"},
		{"after a failover", "SET r v PX 10000 on A; promote A; step granted v", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRigOf(t, map[string][]string{"A": {"A2"}})
			own := protocols.Of[protocols.OneRedisSettings](protocols.Settings{}.With("one-redis"))
			own.Replicas = 1
			r.Lock = protocols.Settings{TTL: ttl, NodeTimeout: 50 * time.Millisecond}.With("one-redis")
			protocols.Change(&r.Lock, func(s *protocols.OneRedisSettings) { *s = own })
			r = r.only("replicated")
			r.Network.Link("A", "A2").Delay(network.Requests, 100*time.Millisecond)
			r.does("c1", c.does)
			r.finds(t, checker.Contract, c.want)
		})
	}
}
