package experiment

import (
	"fmt"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// Arbitrary draws a whole experiment, settings and topology too, from all of the vocabulary and without a budget. It is for
// finding out whether runs repeat, tiers agree and files say everything: it claims and expects nothing that is known.
func Arbitrary(seed uint64) *scenarios.Scenario {
	c := Choices(seed, "anything", 0)
	base := scenarios.Default()
	base.Claim = scenarios.Holds
	base.Nodes.Names = []string{"A", "B", "C", "D", "E"}[:faults.OneOf(c.For("nodes", 0), 5, 5, 5, 4, 3, 1)]
	base.Nodes.Persistence = faults.OneOf(c.For("persistence", 0), redis.NoPersistence, redis.EverySecond, redis.Always)
	base.Lock.TTL = faults.OneOf(c.For("ttl", 0), 200*time.Millisecond, time.Second, 3*time.Second)
	base.Lock.NodeTimeout = faults.OneOf(c.For("node timeout", 0), 10*time.Millisecond, 50*time.Millisecond, 100*time.Millisecond)
	base.Network.Latency.Latency = network.Uniform(0, faults.OneOf(c.For("latency", 0), 0, 2*time.Millisecond, 5*time.Millisecond, 30*time.Millisecond))
	base.Lock.Clock = faults.OneOf(c.For("clock", 0), kernel.Monotonic, kernel.Monotonic, kernel.Boottime, kernel.WallClock)
	for i, name := range base.Nodes.Names {
		if n := faults.OneOf(c.For("replicas", i), 0, 0, 0, 1, 2); n > 0 {
			base.Nodes.Replicas = append(base.Nodes.Replicas, strictyaml.Entry[[]string]{Key: name, Value: []string{name + "2", name + "3"}[:n]})
		}
	}
	space := NewSpace(&base)
	space.Beyond = true
	x := space.Draw(c.For("experiment", 0))
	x.Name, x.Title, x.Source, x.Explanation = fmt.Sprintf("random-%d", seed), "a random experiment", "none", "none"
	return x
}
