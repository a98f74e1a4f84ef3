package advise

import (
	"cmp"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sweep"
)

// compute sets what the formulas give.
func (a *Advice) compute(k Known) error {
	s := scenarios.Default()
	s.Title = "advised"
	s.Nodes = scenarios.Nodes{Names: sweep.NodeNames(k.Nodes), Persistence: k.Persistence}
	s.Network = scenarios.Network{Latency: k.RTT.Latency, Replies: &scenarios.Latency{}}
	s.Budget = faults.Budget{ClockRate: k.ClockError.Rate, ClockStep: k.ClockStep, Pause: k.Pause, MemoryLoss: k.MemoryLoss, NoPowerLoss: !k.PowerLoss}
	a.Settings = s.Settings()
	at := &sweep.Settings{Scenario: a.Settings, Pause: k.Pause}
	lock := &a.Settings.Lock

	quorum := int(sweep.Quorum(at))
	if quorum > k.Nodes || k.Down > k.Nodes-quorum {
		return wrong("%d nodes cannot have %d down and %d without their memory: %d would do", k.Nodes, k.Down, k.MemoryLoss, enough(k))
	}

	lock.NodeTimeout = up(sweep.NodeTimeout(at), time.Millisecond)
	if k.NodeTimeout != nil {
		lock.NodeTimeout = *k.NodeTimeout
		if least := k.RTT.Min(); lock.NodeTimeout <= least {
			return wrong("node timeout %v is no longer than the shortest round trip, %v: nobody would be granted the lock", lock.NodeTimeout, least)
		}
	}

	// The part of the TTL for the rates, a constant for steps, so that they hold for every TTL.
	one, rho := decimal.NewFromInt(1), k.ClockError.Ratio()
	kept := one.Sub(rho).DivRound(one.Add(rho), 12)
	factor := one.Sub(kept).RoundUp(6)
	drift := protocols.Drift{Factor: faults.RateOf(factor), Constant: up(decimal.NewFromInt(int64(k.ClockStep)).Mul(kept), time.Millisecond)}
	protocols.Change(lock, func(own *protocols.RedlockSettings) {
		own.Quorum, own.Drift = quorum, drift
		own.RetryDelay = protocols.Range{Min: lock.NodeTimeout, Max: 3 * lock.NodeTimeout}
	})

	a.Guard = k.Pause + k.RTT.Max()
	lock.GuardTime = a.Guard
	needs := a.Guard + lock.NodeTimeout + drift.Constant
	least := up(decimal.NewFromInt(int64(k.Work+needs)).DivRound(one.Sub(factor), 9).Ceil(), time.Millisecond)
	lock.TTL = cmp.Or(k.TTL, least)
	if lock.TTL < least || k.Work == 0 && lock.TTL == least {
		return wrong("ttl %v is too short for work of %v: with a guard time of %v, a node timeout of %v and the drift allowance it must be %v at least",
			lock.TTL, k.Work, a.Guard, lock.NodeTimeout, least)
	}
	if err := lock.Check(k.Nodes); err != nil {
		return wrong("%w", err)
	}

	a.RestartDelay = up(sweep.RestartDelay(at), time.Millisecond)
	a.RestartDelayOnClock = up(decimal.NewFromInt(int64(a.RestartDelay)).Mul(one.Add(rho)), time.Millisecond)
	a.Settings.Budget.RestartDelay = &a.RestartDelay
	return nil
}

// enough is the smallest number of nodes with which as many can be down, and as many lose their memory.
func enough(k Known) int {
	for n := k.Nodes; ; n++ {
		if q := (n+k.MemoryLoss)/2 + 1; q+k.Down <= n {
			return n
		}
	}
}

// up rounds up to a whole number of units.
func up(d decimal.Decimal, unit time.Duration) time.Duration {
	q, r := d.QuoRem(decimal.NewFromInt(int64(unit)), 0)
	if r.IsPositive() {
		q = q.Add(decimal.NewFromInt(1))
	}
	return time.Duration(q.IntPart()) * unit
}
