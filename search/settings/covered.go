package settings

import (
	"fmt"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/redis"
)

// Uncovered says in words which term of the budget a lock with these settings is not made to bear, as far as the settings of
// protocol redlock say; empty if there is none. Within such a budget the lock breaks, and that shows nothing.
func Uncovered(s *scenarios.Scenario) string {
	if !protocols.Has[protocols.RedlockSettings](s.Lock) {
		return ""
	}
	return uncovered(s)
}

// uncovered is that for a lock with any settings: of those that it does not have nothing is said.
func uncovered(s *scenarios.Scenario) string {
	own, b, n := protocols.Of[protocols.RedlockSettings](s.Lock), s.Budget, len(s.Nodes.Names)
	quorum, isVoted := s.Lock.Votes(n)
	if !isVoted {
		quorum, n = 1, 1
	}
	// Two quorums share at least this many nodes, and one of them must have forgotten nothing.
	spare := 2*quorum - n - 1
	forgets := len(s.Nodes.Replicas) > 0 || s.Nodes.Persistence == redis.NoPersistence || s.Nodes.Persistence == redis.EverySecond && !b.NoPowerLoss
	drift, hasDrift := protocols.Of[protocols.DriftSettings](s.Lock).Drift, protocols.Has[protocols.DriftSettings](s.Lock)
	switch {
	case hasDrift && drift.Constant < tick:
		return fmt.Sprintf("the drift allowance of %v does not cover the millisecond that Redis rounds by", drift.Constant)
	case hasDrift && drift.Factor.Ratio().LessThan(needed(b.ClockRate.Ratio())):
		return fmt.Sprintf("the drift allowance does not cover clocks that are wrong by %v", b.ClockRate)
	case hasDrift && drift.Constant < tick+b.ClockStep:
		return fmt.Sprintf("the drift allowance does not cover clocks that are stepped by %v", b.ClockStep)
	case b.MemoryLoss > spare:
		return fmt.Sprintf("a quorum of %d of %d nodes does not bear that %d forget their votes", quorum, n, b.MemoryLoss)
	case own.Fencing && b.CounterLoss > spare:
		return fmt.Sprintf("a quorum of %d of %d nodes does not bear that %d forget their counters", quorum, n, b.CounterLoss)
	case forgets && own.Guard == nil && b.RestartDelay != nil && *b.RestartDelay < s.Lock.TTL:
		return fmt.Sprintf("nodes that forgot their votes come back after %v, before the longest lease is over", *b.RestartDelay)
	case own.Guard != nil && b.RestartDelay != nil && own.Guard.MaxTTL < s.Lock.TTL:
		return fmt.Sprintf("locks last longer than the %v that the restart guard is for", own.Guard.MaxTTL)
	case s.Lock.GuardTime < lateness(s):
		return fmt.Sprintf("a write can land %v after its client looked at its lease, its guard time is %v", lateness(s), s.Lock.GuardTime)
	}
	return ""
}
