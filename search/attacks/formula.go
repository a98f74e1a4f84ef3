package attacks

import (
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/internal/quorum"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/variant"
	"redlocksim/sim/kernel"
	"redlocksim/sim/storage"
)

// Knob is a setting and the formula for its smallest value that holds; where more of it is worse, for its largest.
type Knob struct {
	Path    string
	Text    string
	Unit    variant.Unit
	Formula func(*Settings) decimal.Decimal // in that unit
	// Falls says that smaller values are the safer ones.
	Falls bool
	// applies says whether the formula is about these settings; nil if always.
	applies func(*Settings) bool
	// instant: it is exact only where messages take no time; where they do, the lock may hold with less, see Slack.
	instant bool
}

// Applies says whether the formula is about the settings: of Redlock, with leases that end when the time to live less the drift
// allowance is over and that nobody extends, in so far as nothing else decides.
func (k *Knob) Applies(s *Settings) bool {
	return protocols.Has[protocols.DriftSettings](s.Lock) && (k.applies == nil || k.applies(s))
}

// Slack is by how much less than the formula says the lock may hold, in the knob's unit: 0 if it is exact for the settings.
// Every moment of an attack is put off by no more than the messages of an acquire take, which some locks send to one node after
// the other.
func (k *Knob) Slack(s *Settings) decimal.Decimal {
	if !k.instant {
		return decimal.Zero
	}
	took := ns(s.Requests().Max() + s.Replies().Max()).Mul(number(len(s.Nodes.Names) + 1)).Mul(one.Add(s.Rho()))
	if k.Unit == variant.Percent {
		return took.Shift(2).DivRound(ns(s.Lock.TTL), 12)
	}
	return took
}

// Safer says whether a is a safer value than b.
func (k *Knob) Safer(a, b decimal.Decimal) bool { return a.GreaterThan(b) != k.Falls && !a.Equal(b) }

const (
	covers = "TTL × (1 − (1−ρ)/(1+ρ)), plus J × (1−ρ)/(1+ρ) for a step J of the nodes' clocks, J for a step J of the client's lock " +
		"clock, and S × (1−ρ) for a suspension S that this clock does not count"
	believed = "what is left of the holder's lease as it believes: (TTL − drift allowance) / (1−ρ), plus the steps and suspensions of " +
		"its clock; 0 if nodes keep their memory"
	inReserve = "where the resource takes what comes late, the longest pause, suspension and message together, minus the spare drift " +
		"allowance; 0 if the library already ends the context of a lease that much earlier"
)

// The settings that stop attacks.
var (
	clockKnobs = []Knob{
		{Path: "lock.drift.constant", Text: covers + "; minus the factor's part", Unit: variant.Nanoseconds, instant: true,
			Formula: func(s *Settings) decimal.Decimal { return allowance(s).Sub(factorsPart(s)) }},
		{Path: "lock.drift.factor", Text: covers + "; minus the constant, as a part of the TTL", Unit: variant.Percent,
			instant: true, Formula: func(s *Settings) decimal.Decimal {
				return allowance(s).Sub(ns(driftOf(s).Constant)).Shift(2).DivRound(ns(s.Lock.TTL), 12)
			}},
	}
	// Where no node forgets, what breaks the lock is clocks that the drift allowance does not cover.
	restartKnobs = []Knob{{Path: "budget.restart-delay", Text: believed, Unit: variant.Nanoseconds, Formula: LeastRestartDelay, instant: true,
		applies: func(s *Settings) bool { return unquarantined(s) && (s.Forgetful() || covered(s)) }}}
	memoryLossKnobs = []Knob{
		{Path: "lock.quorum", Text: "⌊(nodes + lost) / 2⌋ + 1", Unit: variant.Count, applies: votesCount,
			Formula: func(s *Settings) decimal.Decimal { return number(LeastQuorum(s)) }},
		{Path: "budget.memory-loss", Text: spared, Unit: variant.Count, Falls: true, applies: votesCount, Formula: spare},
	}
	countersKnobs = []Knob{{Path: "budget.counter-loss", Text: spared, Unit: variant.Count, Falls: true, Formula: spare}}
	// Where leases overlap, no guard time helps, and where the resource refuses what comes late, it takes none.
	pauseKnobs = []Knob{{Path: "lock.guard-time", Text: inReserve, Unit: variant.Nanoseconds, Formula: guardTime, instant: true,
		applies: func(s *Settings) bool { return s.Storage == storage.Register && covered(s) }}}
	timeoutKnobs = []Knob{{Path: "lock.node-timeout", Text: "more than the longest round trip × (1+ρ)", Unit: variant.Nanoseconds,
		Formula: LeastNodeTimeout}}
)

// spare is how many nodes may forget: of those that two quorums share, one must have forgotten nothing.
func spare(s *Settings) decimal.Decimal { return number(2*s.Quorum() - len(s.Nodes.Names) - 1) }

const spared = "2 × quorum − nodes − 1"

// unquarantined says that nodes do not wait before they vote again, or never vote again once they forget. How long a
// restart guard that trusts the clocks of the nodes makes them wait depends on steps of those clocks.
func unquarantined(s *Settings) bool { return !s.trusting() }

// votesCount says that nothing but the number of votes for a client decides: a node that fails has no vote, all of them
// count, and refusals do not end an attempt that could still have its quorum.
func votesCount(s *Settings) bool {
	plain := protocols.Of[protocols.RedlockPlainSettings](s.Lock)
	if !unquarantined(s) || plain.Asking == protocols.UntilDecided && s.Quorum() < quorum.Majority(len(s.Nodes.Names)) {
		return false
	}
	return plain.FailedNode == protocols.NoVote && plain.ConnectTimeout == 0
}

var one = decimal.NewFromInt(1)

func number(n int) decimal.Decimal { return decimal.NewFromInt(int64(n)) }

func ns(d time.Duration) decimal.Decimal { return decimal.NewFromInt(int64(d)) }

// ceilDiv is ⌈a/b⌉, exactly.
func ceilDiv(a, b decimal.Decimal) decimal.Decimal {
	q, r := a.QuoRem(b, 0)
	if r.IsPositive() {
		q = q.Add(one)
	}
	return q
}

func driftOf(s *Settings) protocols.Drift { return protocols.Of[protocols.DriftSettings](s.Lock).Drift }

func drift(s *Settings) time.Duration { return driftOf(s).For(s.Lock.TTL) }

// factorsPart is the part of the allowance that grows with the TTL.
func factorsPart(s *Settings) decimal.Decimal {
	return ns(s.Lock.TTL).Mul(driftOf(s).Factor.Ratio()).Ceil()
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

// LeastDrift is that as a part of the TTL and a constant in nanoseconds, which are sufficient for every TTL.
func LeastDrift(s *Settings) (factor, constant decimal.Decimal) {
	kept := one.Sub(s.Rho()).DivRound(one.Add(s.Rho()), 12)
	constant = ns(s.Budget.ClockStep).Mul(kept).Add(stepBack(s)).Add(standsStill(s).Mul(one.Sub(s.Rho())))
	return one.Sub(kept), constant
}

// covered says whether the drift allowance is sufficient.
func covered(s *Settings) bool { return allowance(s).LessThanOrEqual(ns(drift(s))) }

// LeastRestartDelay is the smallest sufficient delay between the stop of a node that loses memory and its return, in
// nanoseconds of true time: the longest belief that can rest on a vote it has forgotten.
func LeastRestartDelay(s *Settings) decimal.Decimal {
	if !s.Forgetful() {
		return decimal.Zero
	}
	return ceilDiv(ns(s.Lock.TTL-drift(s)).Add(stepBack(s)), one.Sub(s.Rho())).Add(standsStill(s))
}

// LeastQuorum is the smallest quorum that survives the nodes that lose their memory, whatever they keep on their disks:
// together with those that never voted they must be fewer than it.
func LeastQuorum(s *Settings) int { return (len(s.Nodes.Names)+s.Budget.MemoryLoss)/2 + 1 }

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

// LeastNodeTimeout is the smallest node timeout, in nanoseconds by the client's clock, with which no answer is too late: more
// than the longest round trip on a clock that is fast.
func LeastNodeTimeout(s *Settings) decimal.Decimal {
	return ns(s.Requests().Max() + s.Replies().Max()).Mul(one.Add(s.Rho())).Floor().Add(one)
}
