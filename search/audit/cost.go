package audit

import (
	"fmt"
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/rounded"
	"redlocksim/scenarios"
	"redlocksim/search/attacks"
	"redlocksim/sim/history"
)

// Cost is what suggested settings cost in availability, in simulated runs.
type Cost struct {
	What      string `json:"what"`
	Simulated string `json:"simulated"`
}

func (g *Suggestion) cost(simulated, what string, args ...any) {
	g.Costs = append(g.Costs, Cost{fmt.Sprintf(what, args...), simulated})
}

// costs are what acquires take, with all nodes up and with as many down as the quorum can spare, and how long nobody gets the
// lock in the worst cases.
func (g *Suggestion) costs() error {
	spare := len(g.Settings.Nodes.Names) - g.library().Quorum
	for down := range spare + 1 {
		if err := g.acquires(down); err != nil {
			return err
		}
	}
	for _, worst := range []struct {
		what  string
		scene *scenarios.Scenario
	}{
		{"nobody gets the lock after its holder crashed", attacks.HolderCrash(g.attacked())},
		{fmt.Sprintf("a node that lost its memory does not vote for %v, in which %d more may be down; nobody gets any lock after %d lost it together",
			g.RestartDelay, max(spare-1, 0), spare+1), attacks.Outage(g.attacked())},
	} {
		r, err := scenarios.Judge(worst.scene, scenarios.Options{})
		if err != nil {
			return err
		}
		if r.Unavailable > 0 {
			g.cost("for "+rounded.Duration(r.Unavailable).String(), "%s", worst.what)
		}
	}
	return nil
}

// acquires is how many acquires of a free lock fail because answers come too late, and what they take of the TTL.
func (g *Suggestion) acquires(down int) error {
	const calls = 2000
	lock, s := &g.Settings.Lock, g.Settings.Settings()
	s.Name, s.Clients = "cost", []string{"client-1"}
	for _, node := range s.Nodes.Names[:down] {
		s.Timeline = append(s.Timeline, scenarios.Item{Kind: "power-loss", Fault: &faults.PowerLoss{Outage: faults.Outage{Node: node}}})
	}
	// Votes that come too late are gone before the next call.
	rest := 2*lock.TTL + 2*s.Network.Latency.Max() + time.Second
	s.Timeline = append(s.Timeline, scenarios.Item{When: faults.Trigger{At: time.Millisecond}, Client: "client-1", Repeat: calls,
		Do: []scenarios.Step{{Kind: scenarios.SleepStep, For: rest}, {Kind: scenarios.TryLockStep}, {Kind: scenarios.UnlockStep}}})
	s.Duration = (calls + 1) * (rest + 2*lock.NodeTimeout)
	out, err := scenarios.Run(s, scenarios.Options{})
	if err != nil {
		return err
	}
	var took []time.Duration
	called := int64(0)
	for i := range out.History {
		switch e := &out.History[i]; {
		case e.Func != history.Acquire:
		case e.Kind == history.Call:
			called = e.Time
		case e.Kind == history.Return && e.Outcome == history.OK:
			took = append(took, time.Duration(e.Time-called))
		}
	}
	up := "all nodes up"
	if down > 0 {
		up = fmt.Sprintf("%d down", down)
	}
	g.cost(fmt.Sprintf("%d of %d times", calls-len(took), calls), "an acquire of a free lock fails, %s", up)
	if slices.Sort(took); len(took) > 0 {
		gone := func(percent int) time.Duration {
			return rounded.Duration(took[(len(took)-1)*percent/100] + g.library().Drift.For(lock.TTL))
		}
		g.cost(fmt.Sprintf("%v half of the time, %v in 99 of 100, %v at the longest", gone(50), gone(99), gone(100)),
			"an acquire and the drift allowance take of the TTL of %v, %s", lock.TTL, up)
	}
	return nil
}
