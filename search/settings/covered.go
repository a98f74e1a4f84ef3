package settings

import (
	"fmt"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// Uncovered says in words which term of the budget a lock with these settings is not made to bear, as far as the settings of
// protocol redlock say; empty if there is none. Within such a budget the lock breaks, and that shows nothing.
func Uncovered(s *scenarios.Scenario) string {
	if !protocols.Has[protocols.RedlockSettings](s.Lock) {
		return ""
	}
	why, _ := uncovered(s)
	return why
}

// uncovered is that for a lock with any settings: of those that it does not have nothing is said. mend sets right what is told;
// nil if no one setting does.
func uncovered(s *scenarios.Scenario) (why string, mend func(*protocols.Settings)) {
	own, b, n := protocols.Of[protocols.RedlockSettings](s.Lock), s.Budget, len(s.Nodes.Names)
	quorum, isVoted := s.Lock.Votes(n)
	if !isVoted {
		quorum, n = 1, 1
	}
	// Two quorums share at least this many nodes, and one of them must have forgotten nothing.
	spare := 2*quorum - n - 1
	forgets := len(s.Nodes.Replicas) > 0 || s.Forgets()
	drift, hasDrift := protocols.Of[protocols.DriftSettings](s.Lock).Drift, protocols.Has[protocols.DriftSettings](s.Lock)
	allow := func(factor faults.Rate, constant time.Duration) func(*protocols.Settings) {
		return func(lock *protocols.Settings) {
			protocols.Change(lock, func(own *protocols.DriftSettings) { own.Drift.Factor, own.Drift.Constant = factor, constant })
		}
	}
	switch {
	case hasDrift && drift.Constant < tick:
		return fmt.Sprintf("the constant part of the drift allowance, %v, does not cover the millisecond that Redis rounds by", drift.Constant), allow(drift.Factor, tick)
	case hasDrift && drift.Factor.Ratio().LessThan(needed(b.ClockRate.Ratio())):
		return fmt.Sprintf("the drift allowance does not cover clocks that are wrong by %v", b.ClockRate), allow(faults.RateOf(needed(b.ClockRate.Ratio()).RoundCeil(6)), drift.Constant)
	case hasDrift && drift.Constant < tick+b.ClockStep:
		return fmt.Sprintf("the drift allowance does not cover clocks that are stepped by %v", b.ClockStep), allow(drift.Factor, tick+b.ClockStep)
	case b.MemoryLoss > spare:
		return fmt.Sprintf("a quorum of %d of %d nodes does not bear that %d forget their votes", quorum, n, b.MemoryLoss), nil
	case own.Fencing && b.CounterLoss > spare:
		return fmt.Sprintf("a quorum of %d of %d nodes does not bear that %d forget their counters", quorum, n, b.CounterLoss), nil
	case forgets && own.Guard == nil && b.RestartDelay != nil && *b.RestartDelay < s.Lock.TTL:
		return fmt.Sprintf("nodes that forgot their votes come back after %v, before the longest lease is over", *b.RestartDelay), nil
	case own.Guard != nil && b.RestartDelay != nil && own.Guard.MaxTTL < s.Lock.TTL:
		return fmt.Sprintf("locks last longer than the %v that the restart guard is for", own.Guard.MaxTTL), nil
	case s.Lock.GuardTime < lateness(s):
		return fmt.Sprintf("a write can land %v after its client looked at its lease, its guard time is %v", lateness(s), s.Lock.GuardTime),
			func(lock *protocols.Settings) { lock.GuardTime = lateness(s) }
	}
	return "", nil
}
