package settings

import (
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/reach"
	"redlocksim/sim/storage"
)

// fencing numbers the grants, for a resource that looks at the numbers. Nodes may lose as many counters as the quorum bears.
var fencing = knob{
	name:    "fencing",
	feature: reach.Fencing,
	draw: func(c faults.Choices, s *scenarios.Scenario) {
		if protocols.Of[protocols.OneRedisSettings](s.Lock).Sequence { // which numbers them
			return
		}
		if !protocols.Change(&s.Lock, func(own *protocols.RedlockSettings) { own.Fencing = true }) {
			return
		}
		s.Storage = faults.OneOf(c.For("storage", 0), storage.Register, storage.Fenced, storage.FencedWrites)
		quorum, _ := s.Lock.Votes(len(s.Nodes.Names))
		s.Budget.CounterLoss = 2*quorum - len(s.Nodes.Names) - 1
	},
	back: func(s, base *scenarios.Scenario) {
		if protocols.Of[protocols.OneRedisSettings](s.Lock).Sequence {
			return
		}
		takes(s, base, "fencing")
		s.Budget.CounterLoss = base.Budget.CounterLoss
		if s.Storage != storage.Versioned {
			s.Storage = base.Storage
		}
	},
}

// versions has the resource refuse a write whose client knows an older version, of a lock without tokens.
var versions = knob{
	name:    "versions",
	feature: reach.Checks,
	draw: func(_ faults.Choices, s *scenarios.Scenario) {
		if s.Storage == storage.Register && !s.Lock.Capabilities().Tokens {
			s.Storage = storage.Versioned
		}
	},
	back: func(s, base *scenarios.Scenario) {
		if s.Storage == storage.Versioned {
			s.Storage = base.Storage
		}
	},
}

// guard has nodes come back at any time without their memory.
var guard = knob{
	name:    "guard",
	feature: reach.Guard,
	draw: func(c faults.Choices, s *scenarios.Scenario) {
		longest := s.Lock.TTL + faults.OneOf(c.For("longer", 0), 0, s.Lock.TTL/2)
		if protocols.Change(&s.Lock, func(own *protocols.RedlockSettings) { own.Guard = &protocols.Guard{MaxTTL: longest} }) {
			s.Budget.RestartDelay = away(s.Lock)
		}
	},
	back: func(s, base *scenarios.Scenario) {
		takes(s, base, "guard")
		if s.Budget.RestartDelay = base.Budget.RestartDelay; s.Budget.RestartDelay != nil {
			s.Budget.RestartDelay = away(s.Lock)
		}
	},
}

// wakeUp has releases wake those who wait.
var wakeUp = knob{
	name:    "wake-up",
	feature: reach.WakeUp,
	draw: func(c faults.Choices, s *scenarios.Scenario) {
		over := faults.OneOf(c.For("over", 0), 10*time.Millisecond, time.Millisecond, 100*time.Millisecond)
		protocols.Change(&s.Lock, func(own *protocols.RedlockSettings) { own.WakeUp = over })
	},
	back: func(s, base *scenarios.Scenario) { takes(s, base, "wake-up") },
}

// batching has clients collect their commands to a node as soon as one is unanswered.
var batching = knob{
	name:    "batching",
	feature: reach.Batching,
	draw: func(c faults.Choices, s *scenarios.Scenario) {
		limit := faults.OneOf(c.For("limit", 0), 1, 1, 2)
		protocols.Change(&s.Lock, func(own *protocols.RedlockSettings) { own.Batching = limit })
	},
	back: func(s, base *scenarios.Scenario) { takes(s, base, "batching") },
}
