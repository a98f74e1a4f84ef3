package experiment

import (
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/redis"
)

// quarantines draws, for some runs with the restart guard, a client that holds the lock for long while nodes that voted for it
// come back with nothing and their clocks are stepped. The guard keeps them from voting, so that no lock is there to expire,
// and the budget need not have a term for the steps.
func (s Space) quarantines(x *scenarios.Scenario, c faults.Choices) []scenarios.Item {
	guard, ttl := protocols.Of[protocols.RedlockSettings](x.Lock).Guard, s.Base.Lock.TTL
	away := s.Base.Budget.RestartDelay
	if guard == nil || x.Nodes.Persistence != redis.NoPersistence || !s.Beyond && (away == nil || *away > 0) || c.For("is drawn", 0).Below(4) > 0 {
		return nil
	}
	at := s.instant(c.For("at", 0))
	holder := scenarios.Item{When: faults.Trigger{At: at}, Client: faults.OneOf(c.For("holder", 0), x.Clients...), Repeat: 1, Do: []scenarios.Step{
		step(scenarios.LockStep, ttl), step(scenarios.SleepStep, ttl), step(scenarios.UnlockStep, 0)}}
	s.place(c.For("resource", 0), &holder)
	items := []scenarios.Item{holder}
	granted := faults.Trigger{At: at + faults.Length(c.For("granted", 0), ttl/50, ttl/4)}
	least := int64(len(x.Nodes.Names)) - c.For("spared", 0).Below(int64(len(x.Nodes.Names)+1)/2)
	for i, node := range x.Nodes.Names[:least] {
		stop, of := time.Duration(0), c.For("node", i)
		if of.For("restart", 0).Below(2) == 1 {
			stop = s.times.Length(of.For("restart after", 0), 0, ttl/8)
		}
		by := s.times.Length(of.For("by", 0), guard.MaxTTL/2, 2*guard.MaxTTL)
		items = append(items,
			scenarios.Item{When: granted, Kind: "kill", Fault: &faults.Kill{Outage: faults.Outage{Node: node, RestartAfter: &stop}}},
			scenarios.Item{When: faults.Trigger{After: &faults.Moment{Event: "restart", Node: node}, Plus: s.times.Length(of.For("plus", 0), 0, ttl/2)},
				Kind: "clock-step", Fault: &faults.ClockStep{Process: node, By: by}})
	}
	return items
}
