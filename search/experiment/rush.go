package experiment

import (
	"slices"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

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
