package advise

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/adversary"
	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/sim/network"
	"redlocksim/sweep"
)

// acquires is how many calls a simulated share is of.
const acquires = 2000

// costs computes what the settings cost in availability, and simulates it.
func (a *Advice) costs(ctx context.Context, k Known) error {
	for _, down := range slices.Compact([]int{0, k.Down}) {
		if err := a.failures(k, down); err != nil || ctx.Err() != nil {
			return err
		}
	}
	if err := a.holderDies(); err != nil {
		return err
	}
	return a.quarantine()
}

// failures is the chance that an acquire fails because answers come too late, and what an acquire takes of the TTL.
func (a *Advice) failures(k Known, down int) error {
	lock := &a.Settings.Lock
	n, l := len(a.Settings.Nodes.Names), k.RTT.Latency.Latency
	// An answer at the very moment of the timeout is too late.
	limit := lock.NodeTimeout - 1
	chance := atLeast(a.library().Quorum, n-down, withinNS(l, limit))
	fails := new(big.Rat).Sub(big.NewRat(1, 1), chance)

	s := a.Settings.Settings()
	s.Name, s.Clients = "cost", []string{"client-1"}
	for _, node := range s.Nodes.Names[:down] {
		s.Timeline = append(s.Timeline, scenarios.Item{Kind: "power-loss", Fault: &faults.PowerLoss{Outage: faults.Outage{Node: node}}})
	}
	step := func(kind scenarios.StepKind, d time.Duration) scenarios.Step {
		return scenarios.Step{Kind: kind, For: d}
	}
	// Votes that come too late are gone before the next call.
	rest := 2*lock.TTL + 2*k.RTT.Max() + time.Second
	s.Timeline = append(s.Timeline, scenarios.Item{When: faults.Trigger{At: time.Millisecond}, Client: "client-1", Repeat: acquires,
		Do: []scenarios.Step{step(scenarios.SleepStep, rest), step(scenarios.TryLockStep, 0), step(scenarios.UnlockStep, 0)}})
	s.Duration = (acquires + 1) * (rest + 2*lock.NodeTimeout)
	out, err := scenarios.Run(s, scenarios.Options{})
	if err != nil {
		return err
	}
	took, failed := sweep.Acquires(out.History)
	slices.Sort(took)
	if failed+len(took) != acquires {
		return fmt.Errorf("advise: %d acquires instead of %d", failed+len(took), acquires)
	}
	in := sweep.Wilson(failed, acquires, sweep.Z95)
	computed, _ := fails.Float64()
	up := "all nodes up"
	if down > 0 {
		up = fmt.Sprintf("%d down", down)
	}
	c := Cost{What: fmt.Sprintf("an acquire of a free lock fails, %s", up), Confirmed: sweep.Wilson(failed, acquires, sweep.Z9999).Has(computed)}
	c.computed("%v", share(computed))
	c.simulated("%d of %d, 95 %% interval %v to %v", failed, acquires, share(in.Low), share(in.High))
	a.Costs = append(a.Costs, c)
	if len(took) > 0 {
		a.validity(l, n-down, limit, took, up)
	}
	return nil
}

// validity is what is left of the TTL once enough of the nodes that are up have answered within the limit: by how long
// acquires are to take, and by how long those took that were made.
func (a *Advice) validity(l network.Latency, nodes int, limit time.Duration, took []time.Duration, up string) {
	ttl, quorum := a.Settings.Lock.TTL, a.library().Quorum
	half, nearly := quorumWithin(l, quorum, nodes, big.NewRat(1, 2), limit), quorumWithin(l, quorum, nodes, big.NewRat(99, 100), limit)
	// What was drawn is below the computed median as often as a fair coin shows heads, and so on.
	below := func(d time.Duration) sweep.Interval {
		i, _ := slices.BinarySearch(took, d+1)
		return sweep.Wilson(i, len(took), sweep.Z9999)
	}
	left := func(elapsed time.Duration) time.Duration { return ttl - elapsed - a.drift() }
	c := Cost{What: fmt.Sprintf("validity left of a TTL of %v, %s", ttl, up),
		Confirmed: below(half).Has(0.5) && below(nearly).Has(0.99) ||
			half == nearly && took[0] == half && took[len(took)-1] == half} // all alike: there is nothing to draw
	median, most, longest := took[(len(took)-1)/2], took[(len(took)*99+99)/100-1], took[len(took)-1]
	c.computed("%v half of the time, %v in 99 of 100", left(half), left(nearly))
	c.simulated("%v and %v, at least %v", left(median), left(most), left(longest))
	// Three digits of what is left hide the differences; those of what is gone show them.
	gone := func(elapsed time.Duration) time.Duration { return elapsed + a.drift() }
	c.whatShort = fmt.Sprintf("taken from a TTL of %v by an acquire and the drift allowance, %s", ttl, up)
	_, c.computedShort = figures("%v half of the time, %v in 99 of 100", []any{gone(half), gone(nearly)})
	_, c.simulatedShort = figures("%v and %v, at most %v", []any{gone(median), gone(most), atMost(gone(longest))})
	a.Costs = append(a.Costs, c)
}

// holderDies is for how long the lock of a holder that crashed cannot be had, with nodes whose clocks are slow.
func (a *Advice) holderDies() error {
	lock := &a.Settings.Lock
	rho := a.Settings.Budget.ClockRate.Ratio()
	slow := func(d time.Duration) time.Duration {
		return up(decimal.NewFromInt(int64(d)).DivRound(decimal.NewFromInt(1).Sub(rho), 9).Ceil(), 1)
	}
	// The last SET has to land, live, and be over by Redis' clock; an attempt has to fail just before, to be cleaned up,
	// and a retry to be granted.
	round := a.Settings.Network.Latency.Max()
	bound := round + slow(lock.TTL+time.Millisecond) + slow(a.library().RetryDelay.Max) + 3*slow(lock.NodeTimeout)
	return a.measured("nobody gets the lock after its holder crashed", adversary.HolderCrash(a.attacked()), bound)
}

// quarantine is for how long nobody is granted any lock when more nodes than may be down lose their memory together.
func (a *Advice) quarantine() error {
	lock := &a.Settings.Lock
	if a.RestartDelay == 0 {
		return nil
	}
	n := len(a.Settings.Nodes.Names)
	bound := a.RestartDelay + a.library().RetryDelay.Max + 4*lock.NodeTimeout
	return a.measured(fmt.Sprintf("a node that lost its memory does not vote for %v, in which %d more may be down; nobody gets any lock after %d lost it together",
		a.RestartDelay, max(n-a.library().Quorum-1, 0), n-a.library().Quorum+1), adversary.Outage(a.attacked()), bound)
}

// leavesVotes says whether answers can come too late: votes that arrive after they were given up and released block the
// lock until they expire (scenario 38), and further attempts may leave further ones.
func (a *Advice) leavesVotes() bool {
	return sweep.NodeTimeout(a.attacked()).GreaterThan(decimal.NewFromInt(int64(a.Settings.Lock.NodeTimeout)))
}

// measured runs a scene and compares for how long the lock could not be had with a bound.
func (a *Advice) measured(what string, s *scenarios.Scenario, bound time.Duration) error {
	r, err := scenarios.Judge(s, scenarios.Options{})
	if err != nil {
		return err
	}
	c := Cost{What: what, Confirmed: r.Unavailable > 0 && r.Unavailable <= bound}
	c.computed("at most %v", atMost(bound))
	c.simulated("%v", r.Unavailable)
	if a.leavesVotes() {
		c.computed("no bound: votes that arrive after the node timeout block the lock until they expire (scenario 38)")
		c.Confirmed = r.Unavailable > 0
	}
	a.Costs = append(a.Costs, c)
	return nil
}
