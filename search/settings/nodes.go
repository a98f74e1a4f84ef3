package settings

import (
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/redis"
	"redlocksim/sim/storage"
)

// nodes is how many there are, also even numbers, and how many must vote. A quorum that is higher than it must be bears that
// nodes forget their votes.
var nodes = knob{
	name:  "nodes",
	sized: true,
	draw: func(c faults.Choices, s *scenarios.Scenario) {
		n := 1 + int(c.For("number", 0).Below(7))
		s.Nodes.Names = []string{"A", "B", "C", "D", "E", "F", "G"}[:n]
		quorum := n/2 + 1
		if higher := c.For("higher", 0); higher.Below(2) == 1 {
			quorum += int(higher.For("by", 0).Below(int64(n - quorum + 1)))
			protocols.Change(&s.Lock, func(own *protocols.QuorumSettings) { own.Quorum = quorum })
		}
		s.Budget.MemoryLoss = int(c.For("memory loss", 0).Below(int64(2*quorum - n)))
	},
	back: func(s, base *scenarios.Scenario) {
		if protocols.Has[protocols.OneRedisSettings](s.Lock) {
			return // which is on one
		}
		s.Nodes.Names, s.Budget.MemoryLoss = base.Nodes.Names, base.Budget.MemoryLoss
		s.Nodes.Replicas, s.Nodes.Servers = ofNodes(s.Nodes.Names, s.Nodes.Replicas), ofNodes(s.Nodes.Names, s.Nodes.Servers)
		if len(s.Nodes.Replicas) < len(s.Nodes.Names) {
			takes(s, base, "replicas")
		}
		takes(s, base, "quorum")
	},
}

// ofNodes leaves out what is said of nodes that there are not.
func ofNodes[T any](names []string, said []strictyaml.Entry[T]) (left []strictyaml.Entry[T]) {
	for _, e := range said {
		if slices.Contains(names, e.Key) {
			left = append(left, e)
		}
	}
	return left
}

// oneRedis is a lock on one node, of which replicas may have to confirm it, with tokens from elsewhere or without.
var oneRedis = knob{
	name: "one-redis",
	draw: func(c faults.Choices, s *scenarios.Scenario) {
		if !protocols.Has[protocols.RedlockSettings](s.Lock) {
			return
		}
		s.Lock = s.Lock.With("one-redis")
		s.Nodes.Names, s.Budget.MemoryLoss = s.Nodes.Names[:1], 0
		protocols.Change(&s.Lock, func(own *protocols.QuorumSettings) { own.Quorum = 0 })
		n := 1 + int(c.For("replicas", 0).Below(2))
		s.Nodes.Replicas = replicasOf(s.Nodes.Names[0], n)
		protocols.Change(&s.Lock, func(own *protocols.OneRedisSettings) {
			own.Replicas = int(c.For("confirming", 0).Below(int64(n + 1)))
			own.Sequence = c.For("sequence", 0).Below(2) == 1
			if own.Sequence {
				s.Storage = faults.OneOf(c.For("storage", 0), storage.Register, storage.Fenced, storage.FencedWrites)
			}
		})
	},
	back: func(s, base *scenarios.Scenario) {
		if protocols.Has[protocols.OneRedisSettings](base.Lock) || !protocols.Has[protocols.OneRedisSettings](s.Lock) {
			return
		}
		if protocols.Of[protocols.OneRedisSettings](s.Lock).Sequence {
			s.Storage = base.Storage
		}
		s.Lock = s.Lock.With(base.Lock.Protocol)
		s.Nodes.Names, s.Nodes.Replicas = base.Nodes.Names, base.Nodes.Replicas
		s.Nodes.Servers = ofNodes(s.Nodes.Names, s.Nodes.Servers)
		s.Budget.MemoryLoss = base.Budget.MemoryLoss
		takes(s, base, "quorum", "replicas")
	},
}

// replicasOf are the first n replicas of a node.
func replicasOf(node string, n int) []strictyaml.Entry[[]string] {
	return []strictyaml.Entry[[]string]{{Key: node, Value: []string{node + "2", node + "3"}[:n]}}
}

// persistence is what the nodes write to their disks.
var persistence = knob{
	name: "persistence",
	draw: func(c faults.Choices, s *scenarios.Scenario) {
		s.Nodes.Persistence = faults.OneOf(c.For("which", 0), redis.EverySecond, redis.Always, redis.NoPersistence)
		if c.For("snapshots", 0).Below(4) == 0 {
			s.Nodes.Persistence = redis.Snapshots
			s.Nodes.SnapshotEvery = faults.OneOf(c.For("every", 0), 2*time.Second, 5*time.Second, time.Minute)
		}
		s.Budget.NoPowerLoss = s.Nodes.Persistence == redis.EverySecond && c.For("no power loss", 0).Below(2) == 1
	},
	back: func(s, base *scenarios.Scenario) {
		s.Nodes.Persistence, s.Nodes.SnapshotEvery, s.Budget.NoPowerLoss = base.Nodes.Persistence, base.Nodes.SnapshotEvery, base.Budget.NoPowerLoss
	},
}

// replicas take the place of nodes, of which they may not know everything, or have to confirm what their nodes have.
var replicas = knob{
	name: "replicas",
	draw: func(c faults.Choices, s *scenarios.Scenario) {
		if protocols.Has[protocols.OneRedisSettings](s.Lock) {
			return // which has them
		}
		s.Nodes.Replicas = nil
		confirm := c.For("confirm", 0).Below(2) == 0 && protocols.Change(&s.Lock, func(own *protocols.RedlockSettings) { own.Replicas = 1 })
		for i, name := range s.Nodes.Names {
			n := faults.OneOf(c.For(name, i), 0, 0, 0, 1, 2)
			if confirm {
				n = max(n, 1)
			}
			if n > 0 {
				s.Nodes.Replicas = append(s.Nodes.Replicas, replicasOf(name, n)...)
			}
		}
	},
	back: func(s, base *scenarios.Scenario) {
		if !protocols.Has[protocols.OneRedisSettings](s.Lock) {
			s.Nodes.Replicas = base.Nodes.Replicas
			takes(s, base, "replicas")
		}
	},
}

// forbidden has one of the nodes that a quorum can do without lack a command, so that it does not vote.
var forbidden = knob{
	name: "forbidden",
	draw: func(c faults.Choices, s *scenarios.Scenario) {
		quorum, _ := s.Lock.Votes(len(s.Nodes.Names))
		if protocols.Has[protocols.RedlockSettings](s.Lock) && quorum < len(s.Nodes.Names) {
			s.Nodes.Forbidden = faults.OneOf(c.For("which", 0), scenarios.Command("DEL"), "PEXPIRE", "PTTL", redis.Scripts)
		}
	},
	back: func(s, base *scenarios.Scenario) { s.Nodes.Forbidden = base.Nodes.Forbidden },
}

// servers has each of the nodes run any of the servers, which know different commands.
var servers = knob{
	name: "servers",
	draw: func(c faults.Choices, s *scenarios.Scenario) {
		s.Nodes.Servers = nil
		for i, name := range s.Nodes.Names {
			of := faults.OneOf(c.For(name, i), redis.Redis70, redis.Redis84, redis.Valkey81, redis.Valkey91)
			s.Nodes.Servers = append(s.Nodes.Servers, strictyaml.Entry[redis.Software]{Key: name, Value: of})
		}
	},
	back: func(s, base *scenarios.Scenario) { s.Nodes.Servers = base.Nodes.Servers },
}

// takes sets keys of the lock as they are in base, as far as that has the same protocol.
func takes(s, base *scenarios.Scenario, keys ...string) {
	from := base.Lock.With(s.Lock.Protocol)
	for _, key := range keys {
		s.Lock.Take(key, from)
	}
}
