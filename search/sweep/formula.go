package sweep

import (
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
)

var one = decimal.NewFromInt(1)

func number(n int64) decimal.Decimal { return decimal.NewFromInt(n) }

func ns(d time.Duration) decimal.Decimal { return decimal.NewFromInt(int64(d)) }

// ceilDiv is ⌈a/b⌉, exactly.
func ceilDiv(a, b decimal.Decimal) decimal.Decimal {
	q, r := a.QuoRem(b, 0)
	if r.IsPositive() {
		q = q.Add(one)
	}
	return q
}

// modelled says whether the formulas are about the protocol: Redlock, with leases that end when the time to live less the
// drift allowance is over, and that nobody extends.
func modelled(s *Settings) bool {
	return protocols.Has[protocols.DriftSettings](s.Lock)
}

func drift(s *Settings) time.Duration {
	return protocols.Of[protocols.DriftSettings](s.Lock).Drift.For(s.Lock.TTL)
}

// factorsPart is the part of the allowance that grows with the TTL.
func factorsPart(s *Settings) decimal.Decimal {
	return ns(s.Lock.TTL).Mul(protocols.Of[protocols.DriftSettings](s.Lock).Drift.Factor.Ratio()).Ceil()
}

func roundTrip(s *Settings) time.Duration { return s.Requests().Max() + s.Replies().Max() }

func restartDelay(s *Settings) time.Duration {
	if s.Budget.RestartDelay == nil {
		return 0
	}
	return *s.Budget.RestartDelay
}

// stepBack is how far the holder's lock clock can be stepped back, and standsStill for how long, in true time, it can stand
// still.
func stepBack(s *Settings) decimal.Decimal {
	if s.Lock.Clock == kernel.WallClock {
		return ns(s.Budget.ClockStep)
	}
	return decimal.Zero
}

func standsStill(s *Settings) decimal.Decimal {
	if s.Lock.Clock == kernel.Monotonic {
		return ns(s.Budget.Suspend)
	}
	return decimal.Zero
}

// nodesLetGo is how long after the requests arrived the keys are gone from nodes whose clocks are fast by ρ and step.
func nodesLetGo(s *Settings) decimal.Decimal {
	left := ns(s.Lock.TTL).Add(one).Sub(ns(s.Budget.ClockStep))
	return ceilDiv(decimal.Max(left, decimal.Zero), one.Add(s.Rho()))
}

// allowance is the smallest sufficient drift allowance, in nanoseconds: TTL − (TTL−J) × (1−ρ)/(1+ρ), for clocks that are
// wrong by ρ at the most, the nodes' fast and the clients' slow, and steps of J; and what the client's lock clock can be
// stepped back and, in true time, stand still.
func allowance(s *Settings) decimal.Decimal {
	ttl := ns(s.Lock.TTL)
	left := decimal.Max(ttl.Sub(ns(s.Budget.ClockStep)), decimal.Zero)
	// What is left by the holder's clock is rounded down: against it.
	left = left.Sub(standsStill(s).Mul(one.Add(s.Rho()))).Mul(one.Sub(s.Rho()))
	return ttl.Add(stepBack(s)).Add(ceilDiv(left.Neg(), one.Add(s.Rho())))
}

// RestartDelay is the smallest sufficient delay between the stop of a node that loses memory and its return, in
// nanoseconds of true time: the longest belief that can rest on a vote it has forgotten.
func RestartDelay(s *Settings) decimal.Decimal {
	if !s.Forgetful() {
		return decimal.Zero
	}
	return ceilDiv(ns(s.Lock.TTL-drift(s)).Add(stepBack(s)), one.Sub(s.Rho())).Add(standsStill(s))
}

// Quorum is the smallest quorum that survives the nodes that lose their memory, whatever they keep on their disks: together
// with those that never voted they must be fewer than it.
func Quorum(s *Settings) int64 {
	return int64((len(s.Nodes.Names)+s.Budget.MemoryLoss)/2 + 1)
}

// guardTime is the smallest sufficient guard time, in nanoseconds by the client's clock: how long before its lease ends a
// client that can be paused must stop sending effects. It is the pause and the suspension of its machine, and the longest
// that its message to the resource can take, less what the drift allowance leaves between the end of the lease and the
// moment at which the nodes can have let go; and none where the context of the library's leases ends early enough by
// itself.
func guardTime(s *Settings) decimal.Decimal {
	late := ns(s.Pause + s.Budget.Suspend + s.Budget.Delay + s.Network.Latency.Max())
	needed := ns(s.Lock.TTL - drift(s)).Add(stepBack(s)).Sub(nodesLetGo(s).Sub(late).Mul(one.Sub(s.Rho())))
	if needed.LessThanOrEqual(ns(lead(s))) {
		return decimal.Zero
	}
	return needed.Ceil()
}

// lead is how long before a lease ends the library cancels its context: a twentieth of the TTL, from 1 ms to 1 s, and no
// more than half of what is valid. Other protocols do not.
func lead(s *Settings) time.Duration {
	if !s.Lock.Capabilities().Warns {
		return 0
	}
	granted := time.Duration(ns(s.Requests().Min() + s.Replies().Min()).Mul(one.Sub(s.Rho())).Floor().IntPart())
	return min(max(s.Lock.TTL/20, time.Millisecond), time.Second, (s.Lock.TTL-drift(s)-granted)/2)
}

// NodeTimeout is the smallest node timeout, in nanoseconds by the client's clock, with which no answer is too late: more
// than the longest round trip on a clock that is fast.
func NodeTimeout(s *Settings) decimal.Decimal {
	return ns(roundTrip(s)).Mul(one.Add(s.Rho())).Floor().Add(one)
}
