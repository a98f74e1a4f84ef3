package experiment

import (
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

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
