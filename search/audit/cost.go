package audit

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/internal/rounded"
	"redlocksim/scenarios"
	"redlocksim/search/attacks"
	"redlocksim/search/sweep"
	"redlocksim/sim/network"
)

// Cost is what suggested settings cost in availability, computed and simulated.
type Cost struct {
	What      string `json:"what"`
	Computed  string `json:"computed"`
	Simulated string `json:"simulated"`
	// Confirmed says that the one is as the other: within the bound, or not farther away than chance explains (the interval
	// of 99.99 %, since of those of 95 % one in twenty misses).
	Confirmed bool `json:"confirmed"`
}

// acquires is how many calls a simulated share is of.
const acquires = 2000

// costs computes what the settings cost, with all nodes up and with as many down as the quorum can spare, and simulates it.
func (g *Suggestion) costs(ctx context.Context, _ *Answers) error {
	for down := range len(g.Settings.Nodes.Names) - g.library().Quorum + 1 {
		if err := g.failures(down); err != nil || ctx.Err() != nil {
			return err
		}
	}
	if err := g.holderDies(); err != nil {
		return err
	}
	return g.outage()
}

// failures is the chance that an acquire fails because answers come too late, and what an acquire takes of the TTL.
func (g *Suggestion) failures(down int) error {
	lock := &g.Settings.Lock
	n, l := len(g.Settings.Nodes.Names), g.Settings.Network.Latency.Latency
	// An answer at the very moment of the timeout is too late.
	limit := lock.NodeTimeout - 1
	chance := chanceOf(g.library().Quorum, n-down, withinNS(l, limit))
	fails := new(big.Rat).Sub(big.NewRat(1, 1), chance)

	s := g.Settings.Settings()
	s.Name, s.Clients = "cost", []string{"client-1"}
	for _, node := range s.Nodes.Names[:down] {
		s.Timeline = append(s.Timeline, scenarios.Item{Kind: "power-loss", Fault: &faults.PowerLoss{Outage: faults.Outage{Node: node}}})
	}
	step := func(kind scenarios.StepKind, d time.Duration) scenarios.Step {
		return scenarios.Step{Kind: kind, For: d}
	}
	// Votes that come too late are gone before the next call.
	rest := 2*lock.TTL + 2*l.Max() + time.Second
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
		return fmt.Errorf("audit: %d acquires instead of %d", failed+len(took), acquires)
	}
	in := sweep.Wilson(failed, acquires, sweep.Z95)
	computed, _ := fails.Float64()
	up := "all nodes up"
	if down > 0 {
		up = fmt.Sprintf("%d down", down)
	}
	g.Costs = append(g.Costs, Cost{What: fmt.Sprintf("an acquire of a free lock fails, %s", up), Computed: fmt.Sprintf("%.3g", computed),
		Simulated: fmt.Sprintf("%d of %d, 95 %% interval %.3g to %.3g", failed, acquires, in.Low, in.High),
		Confirmed: sweep.Wilson(failed, acquires, sweep.Z9999).Has(computed)})
	if len(took) > 0 {
		g.taken(l, n-down, limit, took, up)
	}
	return nil
}

// taken is what is gone of the TTL once enough of the nodes that are up have answered within the limit: by how long acquires
// are to take, and by how long those took that were made.
func (g *Suggestion) taken(l network.Latency, nodes int, limit time.Duration, took []time.Duration, up string) {
	ttl, quorum := g.Settings.Lock.TTL, g.library().Quorum
	half, nearly := quorumWithin(l, quorum, nodes, big.NewRat(1, 2), limit), quorumWithin(l, quorum, nodes, big.NewRat(99, 100), limit)
	// What was drawn is below the computed median as often as a fair coin shows heads, and so on.
	below := func(d time.Duration) sweep.Interval {
		i, _ := slices.BinarySearch(took, d+1)
		return sweep.Wilson(i, len(took), sweep.Z9999)
	}
	gone := func(elapsed time.Duration) time.Duration {
		return rounded.Duration(elapsed + g.library().Drift.For(ttl))
	}
	g.Costs = append(g.Costs, Cost{What: fmt.Sprintf("taken from a TTL of %v by an acquire and the drift allowance, %s", ttl, up),
		Computed:  fmt.Sprintf("%v half of the time, %v in 99 of 100", gone(half), gone(nearly)),
		Simulated: fmt.Sprintf("%v and %v, at most %v", gone(took[(len(took)-1)/2]), gone(took[(len(took)*99+99)/100-1]), gone(took[len(took)-1])),
		Confirmed: below(half).Has(0.5) && below(nearly).Has(0.99) ||
			half == nearly && took[0] == half && took[len(took)-1] == half}) // all alike: there is nothing to draw
}

// holderDies is for how long the lock of a holder that crashed cannot be had, with nodes whose clocks are slow.
func (g *Suggestion) holderDies() error {
	lock := &g.Settings.Lock
	rho := g.Settings.Budget.ClockRate.Ratio()
	slow := func(d time.Duration) time.Duration {
		return up(decimal.NewFromInt(int64(d)).DivRound(decimal.NewFromInt(1).Sub(rho), 9).Ceil(), 1)
	}
	// The last SET has to land, live, and be over by Redis' clock; an attempt has to fail just before, to be cleaned up,
	// and a retry to be granted.
	round := g.Settings.Network.Latency.Max()
	bound := round + slow(lock.TTL+time.Millisecond) + slow(g.library().RetryDelay.Max) + 3*slow(lock.NodeTimeout)
	return g.measured("nobody gets the lock after its holder crashed", attacks.HolderCrash(g.attacked()), bound)
}

// outage is for how long nobody is granted any lock when more nodes than may be down lose their memory together.
func (g *Suggestion) outage() error {
	lock := &g.Settings.Lock
	if g.RestartDelay == 0 {
		return nil
	}
	n := len(g.Settings.Nodes.Names)
	bound := g.RestartDelay + g.library().RetryDelay.Max + 4*lock.NodeTimeout
	return g.measured(fmt.Sprintf("a node that lost its memory does not vote for %v, in which %d more may be down; nobody gets any lock after %d lost it together",
		g.RestartDelay, max(n-g.library().Quorum-1, 0), n-g.library().Quorum+1), attacks.Outage(g.attacked()), bound)
}

// leavesVotes says whether answers can come too late: votes that arrive after they were given up and released block the
// lock until they expire (scenario 38), and further attempts may leave further ones.
func (g *Suggestion) leavesVotes() bool {
	return sweep.NodeTimeout(g.attacked()).GreaterThan(decimal.NewFromInt(int64(g.Settings.Lock.NodeTimeout)))
}

// measured runs a scene and compares for how long the lock could not be had with a bound.
func (g *Suggestion) measured(what string, s *scenarios.Scenario, bound time.Duration) error {
	r, err := scenarios.Judge(s, scenarios.Options{})
	if err != nil {
		return err
	}
	c := Cost{What: what, Computed: fmt.Sprintf("at most %v", rounded.Up(bound)), Simulated: rounded.Duration(r.Unavailable).String(),
		Confirmed: r.Unavailable > 0 && r.Unavailable <= bound}
	if g.leavesVotes() {
		c.Computed = "no bound: votes that arrive after the node timeout block the lock until they expire (scenario 38)"
		c.Confirmed = r.Unavailable > 0
	}
	g.Costs = append(g.Costs, c)
	return nil
}
