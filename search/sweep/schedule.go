package sweep

import (
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/internal/quorum"
	"redlocksim/scenarios/protocols"
	"redlocksim/search/attacks"
	"redlocksim/sim/storage"
)

// Schedule is an attack, with the settings that stop it.
type Schedule struct {
	attacks.Attack
	// Knobs are the settings that stop it, with their formulas, which are exact where messages take no time.
	Knobs []Knob
}

// Knob is a setting and the formula for its smallest value that holds; where more of it is worse, for its largest.
type Knob struct {
	Path    string
	Text    string
	Formula func(*Settings) decimal.Decimal // in the unit that Unit says
	Unit    Unit
	// Falls says that smaller values are the safer ones.
	Falls bool
	// Applies says whether the formula is about these settings; nil if always.
	Applies func(*Settings) bool
	// messages is how much of the setting messages that take so long make up for; nil if none, as the formula has them.
	messages func(s *Settings, took time.Duration) decimal.Decimal
}

// knobs are the settings that stop an attack, by its name.
func knobs(attack string) []Knob {
	covers := "TTL × (1 − (1−ρ)/(1+ρ)), plus J × (1−ρ)/(1+ρ) for a step J of the nodes' clocks, J for a step J of the client's lock clock, and S × (1−ρ) for a suspension S that this clock does not count"
	switch attack {
	case "clocks":
		return []Knob{
			{Path: "lock.drift.constant", Text: covers + "; minus the factor's part", Unit: Nanoseconds, messages: asTime,
				Formula: func(s *Settings) decimal.Decimal { return allowance(s).Sub(factorsPart(s)) }},
			{Path: "lock.drift.factor", Text: covers + "; minus the constant, as a part of the TTL", Unit: Percent,
				Formula: func(s *Settings) decimal.Decimal {
					return allowance(s).Sub(ns(protocols.Of[protocols.DriftSettings](s.Lock).Drift.Constant)).Shift(2).DivRound(ns(s.Lock.TTL), 12)
				},
				messages: func(s *Settings, took time.Duration) decimal.Decimal {
					return asTime(s, took).Shift(2).DivRound(ns(s.Lock.TTL), 12)
				}},
		}
	case "restart":
		return []Knob{{Path: "budget.restart-delay", Text: "what is left of the holder's lease as it believes: (TTL − drift allowance) / (1−ρ), plus the steps and suspensions of its clock; 0 if nodes keep their memory",
			Formula: RestartDelay, Unit: Nanoseconds, messages: asTime,
			// Where no node forgets, what breaks the lock is clocks that the drift allowance does not cover.
			Applies: func(s *Settings) bool {
				return unquarantined(s) && (s.Forgetful() || allowance(s).LessThanOrEqual(ns(drift(s))))
			}}}
	case "memory-loss":
		return []Knob{
			{Path: "lock.quorum", Text: "⌊(nodes + lost) / 2⌋ + 1", Applies: votesCount, Formula: func(s *Settings) decimal.Decimal { return number(Quorum(s)) }, Unit: Count},
			{Path: "budget.memory-loss", Text: "2 × quorum − nodes − 1", Unit: Count, Falls: true, Applies: votesCount,
				Formula: func(s *Settings) decimal.Decimal {
					return number(int64(2*s.Quorum() - len(s.Nodes.Names) - 1))
				}},
		}
	case "counters":
		return []Knob{{Path: "budget.counter-loss", Text: "2 × quorum − nodes − 1", Unit: Count, Falls: true,
			Formula: func(s *Settings) decimal.Decimal {
				return number(int64(2*s.Quorum() - len(s.Nodes.Names) - 1))
			}}}
	case "pause":
		return []Knob{{Path: "lock.guard-time", Text: "where the resource takes what comes late, the longest pause, suspension and message together, minus the spare drift allowance; 0 if the library already ends the context of a lease that much earlier",
			Formula: guardTime, Unit: Nanoseconds, messages: asTime,
			// Where leases overlap, no guard time helps, and where the resource refuses what comes late, it takes none.
			Applies: func(s *Settings) bool {
				return s.Storage == storage.Register && allowance(s).LessThanOrEqual(ns(drift(s)))
			}}}
	case "timeout":
		return []Knob{{Path: "lock.node-timeout", Text: "more than the longest round trip × (1+ρ)", Formula: NodeTimeout, Unit: Nanoseconds}}
	}
	return nil
}

// unquarantined says that nodes do not wait before they vote again, or never vote again once they forget. How long a
// restart guard that trusts the clocks of the nodes makes them wait depends on steps of those clocks.
func unquarantined(s *Settings) bool {
	guard := protocols.Of[protocols.RedlockSettings](s.Lock).Guard
	return guard == nil || !guard.TrustNodeClock
}

// votesCount says that nothing but the number of votes for a client decides: a node that fails has no vote, all of them
// count, and refusals do not end an attempt that could still have its quorum.
func votesCount(s *Settings) bool {
	plain := protocols.Of[protocols.RedlockPlainSettings](s.Lock)
	if !unquarantined(s) || plain.Asking == protocols.UntilDecided && s.Quorum() < quorum.Majority(len(s.Nodes.Names)) {
		return false
	}
	return plain.FailedNode == protocols.NoVote && plain.ConnectTimeout == 0
}

// asTime is the length of calls, and of Redis' own millisecond, by a clock that may be fast.
func asTime(s *Settings, took time.Duration) decimal.Decimal {
	if took == 0 {
		return decimal.Zero
	}
	return ns(took+time.Millisecond).Mul(one.Add(s.Rho())).DivRound(one.Sub(s.Rho()), 0)
}

// Schedules lists all schedules.
func Schedules() []Schedule {
	names, _ := attacks.Names()
	all, _ := FindSchedules(names...) // they are known
	return all
}

// FindSchedules is the schedules of these names; with none, all that are about mutual exclusion.
func FindSchedules(names ...string) ([]Schedule, error) {
	found, wrong := attacks.Find(names...)
	if wrong != "" {
		known, _ := attacks.Names()
		return nil, unknown("schedule", wrong, known...)
	}
	var schedules []Schedule
	for _, x := range found {
		schedules = append(schedules, Schedule{x, knobs(x.Name)})
	}
	return schedules, nil
}

// Timeline is the schedule of a scenario itself, for a base that is [Whole].
func Timeline() Schedule { return Schedule{Attack: attacks.Timeline()} }

// Breach is an attack that succeeded, and what it broke.
type Breach struct {
	Schedule string         `json:"schedule"`
	What     attacks.Broken `json:"what"`
}

// Missed is an attack that did not take place, and why.
type Missed struct {
	Schedule string `json:"schedule"`
	Why      string `json:"why"`
}
