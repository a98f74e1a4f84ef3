package experiment

import (
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// quarantines draws, for some runs with the restart guard, a client that holds the lock for long while nodes that voted for it
// come back with nothing and their clocks are stepped. The guard keeps them from voting, so that no lock is there to expire,
// and the budget need not have a term for the steps.
func (s Space) quarantines(x *scenarios.Scenario, c faults.Choices) []scenarios.Item {
	guard, ttl := protocols.Of[protocols.RedlockSettings](x.Lock).Guard, s.Base.Lock.TTL
	away := s.Base.Budget.RestartDelay
	if guard == nil || x.Nodes.Persistence.SurvivesKill() || !s.Beyond && (away == nil || *away > 0) || c.For("is drawn", 0).Below(4) > 0 {
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

// counters draws, for some runs with fencing, nodes whose counters are ahead of those of the others, while so many others
// cannot be reached that no quorum is left without them: whom to believe then is the hardest that clients have to decide.
func (s Space) counters(x *scenarios.Scenario, c faults.Choices) []scenarios.Item {
	if !protocols.Of[protocols.RedlockSettings](x.Lock).Fencing || c.For("are drawn", 0).Below(3) > 0 {
		return nil
	}
	nodes := slices.Clone(x.Nodes.Names)
	first := int(c.For("first", 0).Below(int64(len(nodes))))
	nodes = slices.Concat(nodes[first:], nodes[:first])
	quorum, _ := x.Lock.Votes(len(nodes))
	at, length := s.instant(c.For("at", 0)), s.times.Length(c.For("for", 0), s.Duration/40, s.Duration/4)
	var items []scenarios.Item
	set := func(node string, at time.Duration, to int64) {
		items = append(items, scenarios.Item{When: faults.Trigger{At: at}, Kind: "set-counters", Fault: &faults.SetCounters{Node: node, To: to}})
	}
	to := faults.FarCount(c.For("to", 0))
	ahead := nodes[:1+c.For("ahead", 0).Below(int64(quorum))]
	for i, node := range ahead {
		if c.For("another", i).Below(4) == 0 {
			to = faults.FarCount(c.For("to", 1+i))
		}
		set(node, at, to)
		if c.For("mended", i).Below(2) == 0 {
			set(node, at+length, 0)
		}
	}
	if spare := len(nodes) - quorum; spare > 0 && c.For("the others", 0).Below(4) > 0 {
		items = append(items, scenarios.Item{When: faults.Trigger{At: at}, Kind: "partition",
			Fault: &faults.Partition{Links: faults.Links{Nodes: nodes[quorum:]}, For: length}})
	}
	return items
}

// rush draws, for some runs, calls of one client that come at the same instant, for each of the resources one or more: those
// that wait behind the first are sent together. Each goes on as the others do, so that extends and releases meet, too.
func (s Space) rush(x *scenarios.Scenario, c faults.Choices) []scenarios.Item {
	often := int64(24)
	if protocols.Of[protocols.RedlockSettings](s.Base.Lock).Batching != 0 {
		often = 3
	}
	// What monitors know of code that takes time is of a few goroutines.
	if c.For("is drawn", 0).Below(often) > 0 || s.Base.StepTime.Max() > 0 {
		return nil
	}
	w := s.worker(c.For("worker", 0))
	who, at := faults.OneOf(c.For("client", 0), x.Clients...), faults.Trigger{At: s.instant(c.For("at", 0))}
	var items []scenarios.Item
	for i, name := range s.Base.Resources {
		of := c.For("resource", i)
		for j := range 1 + int(of.For("calls", 0).Below(3)) {
			call := of.For("call", j)
			do := []scenarios.Step{step(scenarios.TryLockStep, 0), step(scenarios.UpdateStep, 0), step(scenarios.UnlockStep, 0)}
			do[0].TTL = w.shorter(call.For("ttl", 0))
			if extends := call.For("extends", 0).Below(6); extends > 2 {
				do = slices.Replace(do, 1, 2, slices.Repeat([]scenarios.Step{w.extend(call.For("extend", 0))}, int(extends-2))...)
			}
			item := scenarios.Item{When: at, Client: who, Do: do, Repeat: 1 + int(call.For("again", 0).Below(8))}
			if len(s.Base.Resources) > 1 {
				item.Resource = []string{name}
			}
			items = append(items, item)
		}
	}
	return items
}

// stoppedLate draws a pause of a client that extends late: once or each time, and mostly before a node has answered.
func (s Space) stoppedLate(x *scenarios.Scenario, client string, c faults.Choices) []scenarios.Item {
	m := &faults.Moment{Event: observe.ExtendStarted.String(), Client: client, Nth: int(1 + c.For("nth", 0).Below(3))}
	if !slices.Contains(s.steps(), m.Event) {
		m.Event = "extend-called" // which every lock has
	}
	when := faults.Trigger{After: m, Every: c.For("every", 0).Below(2) == 1}
	if c.For("plus", 0).Below(3) == 2 {
		when.Plus = faults.Length(c.For("by", 0), 0, 2*s.Base.Network.Latency.Max())
	}
	kind, _ := faults.Find("pause")
	limits := s.about(x, when)
	limits.Names.Clients, limits.Names.Nodes = []string{client}, nil
	f := kind.Draw(c.For("fault", 0), limits)
	if f == nil {
		return nil
	}
	return []scenarios.Item{{When: when, Kind: kind.Name, Fault: f}}
}
