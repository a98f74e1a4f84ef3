package settings

import (
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// latency is how long messages take. With none at all an allowance that is too small by little shows.
var latency = knob{
	name:  "latency",
	sized: true,
	draw: func(c faults.Choices, s *scenarios.Scenario) {
		s.Network.Latency.Latency = faults.OneOf(c.For("which", 0), s.Network.Latency.Latency, s.Network.Latency.Latency,
			network.Constant(0), network.Uniform(0, 2*time.Millisecond), network.Uniform(0, 30*time.Millisecond))
	},
	back: func(s, base *scenarios.Scenario) { s.Network = base.Network },
}

// nodeTimeout is near what a round trip takes, so that answers come just before it and just after.
var nodeTimeout = knob{
	name: "node-timeout",
	draw: func(c faults.Choices, s *scenarios.Scenario) {
		longest := s.Network.Latency.Max()
		s.Lock.NodeTimeout = max(time.Millisecond, faults.OneOf(c.For("which", 0), longest, longest*3/2, 2*longest, 2*longest+time.Millisecond, 100*time.Millisecond))
	},
	back: func(s, base *scenarios.Scenario) { takes(s, base, "node-timeout") },
}

// ttl can be so short that what happens within the budget takes an attempt as long. Nodes stay away for as long.
var ttl = knob{
	name: "ttl",
	draw: func(c faults.Choices, s *scenarios.Scenario) {
		s.Lock.TTL = faults.OneOf(c.For("which", 0), 400*time.Millisecond, time.Second, 5*time.Second)
		if s.Budget.RestartDelay != nil {
			s.Budget.RestartDelay = away(s.Lock)
		}
	},
	back: func(s, base *scenarios.Scenario) {
		if takes(s, base, "ttl"); base.Budget.RestartDelay != nil {
			s.Budget.RestartDelay = away(s.Lock)
		}
		if guard := protocols.Of[protocols.RedlockSettings](s.Lock).Guard; guard != nil && guard.MaxTTL < s.Lock.TTL {
			protocols.Change(&s.Lock, func(own *protocols.RedlockSettings) { own.Guard = &protocols.Guard{MaxTTL: s.Lock.TTL} })
		}
	},
}

// away is how long a node that forgot its votes must stay away: as long as a lock can last, or not at all where the guard keeps
// it from voting.
func away(s protocols.Settings) *time.Duration {
	var d time.Duration
	if protocols.Of[protocols.RedlockSettings](s).Guard == nil {
		d = s.TTL
	}
	return &d
}

// clock is what clients measure with, the right ones and the wrong one.
var clock = knob{
	name: "clock",
	wild: true,
	draw: func(c faults.Choices, s *scenarios.Scenario) {
		s.Lock.Clock = faults.OneOf(c.For("which", 0), kernel.Monotonic, kernel.Monotonic, kernel.Boottime, kernel.WallClock)
	},
	back: func(s, base *scenarios.Scenario) { takes(s, base, "clock") },
}

// stepTime is the time that passes between any two steps of a client, so that a clock that is read a line too late shows.
var stepTime = knob{
	name: "step-time",
	draw: func(c faults.Choices, s *scenarios.Scenario) {
		most := faults.OneOf(c.For("most", 0), time.Millisecond, 3*time.Millisecond, 10*time.Millisecond)
		s.StepTime.Latency = network.Latency{Points: []network.Quantile{{Share: 0}, {Share: network.Million / 2, At: 50 * time.Microsecond}, {Share: network.Million, At: most}}}
	},
	back: func(s, base *scenarios.Scenario) { s.StepTime = base.StepTime },
}

// tick is what the expiry of Redis' keys may be wrong by.
const tick = time.Millisecond

// drift is the smallest allowance that covers clocks which are wrong by a rate and stepped by so much, and these bounds.
var drift = knob{
	name: "drift",
	draw: func(c faults.Choices, s *scenarios.Scenario) {
		rate := decimal.New(faults.OneOf(c.For("rate", 0), int64(0), 1000, 5000, 20_000, 100_000), -6)
		step := faults.OneOf(c.For("step", 0), 0, 0, time.Millisecond, 20*time.Millisecond, s.Lock.TTL/8)
		if protocols.Change(&s.Lock, func(own *protocols.DriftSettings) {
			own.Drift = protocols.Drift{Factor: faults.RateOf(needed(rate).RoundCeil(6)), Constant: tick + step}
		}) {
			s.Budget.ClockRate, s.Budget.ClockStep = faults.RateOf(rate), step
		}
	},
	back: func(s, base *scenarios.Scenario) {
		takes(s, base, "drift")
		s.Budget.ClockRate, s.Budget.ClockStep = base.Budget.ClockRate, base.Budget.ClockStep
	},
}

// needed is what part of a TTL is to be allowed where all clocks are wrong by at most a rate r: 1 − (1−r)/(1+r).
func needed(r decimal.Decimal) decimal.Decimal {
	one := decimal.New(1, 0)
	return one.Sub(one.Sub(r).DivRound(one.Add(r), 18))
}

// guardTime is as long as everything together that can come between a client's look at its lease and the arrival of its write,
// by the fastest clock.
var guardTime = knob{
	name:   "guard-time",
	sized:  true,
	always: true,
	draw: func(_ faults.Choices, s *scenarios.Scenario) {
		s.Lock.GuardTime = max(s.Lock.GuardTime, lateness(s).Truncate(10*time.Millisecond)+10*time.Millisecond)
	},
	back: func(s, base *scenarios.Scenario) { takes(s, base, "guard-time") },
}

// lateness is by how much a write can land later than its client looked at its lease, by that client's clock.
func lateness(s *scenarios.Scenario) time.Duration {
	d := s.Budget.Pause + s.Budget.Suspend + s.Budget.Delay + s.Network.Latency.Max() + s.StepTime.Max()
	return d + time.Duration(s.Budget.ClockRate.Ratio().Mul(decimal.NewFromInt(int64(d))).Ceil().IntPart())
}

// lossLead is how long before its end a holder is told of the end of its lease.
var lossLead = knob{
	name: "loss-lead",
	draw: func(c faults.Choices, s *scenarios.Scenario) {
		lead := faults.OneOf(c.For("which", 0), time.Millisecond, s.Lock.TTL/4, s.Lock.TTL)
		protocols.Change(&s.Lock, func(own *protocols.RedlockSettings) { own.LossLead = lead })
	},
	back: func(s, base *scenarios.Scenario) { takes(s, base, "loss-lead") },
}
