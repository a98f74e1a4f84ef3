package search

import (
	"slices"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/sim"
)

const wallClock = sim.WallClock

func replicasOf(node string, names ...string) strictyaml.Entry[[]string] {
	return strictyaml.Entry[[]string]{Key: node, Value: names}
}

// strikesAClient says whether a finding has a clock step of a client.
func strikesAClient(f Finding) bool {
	for _, item := range f.Scenario.Timeline {
		if step, ok := item.Fault.(*faults.ClockStep); ok && slices.Contains(f.Scenario.Clients, step.Process) {
			return true
		}
	}
	return false
}
