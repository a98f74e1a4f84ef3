package settings

import (
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// AdapterFeatures counts the features of a scenario that the shipped adapter and its scripts treat apart: the more of them
// meet, the rarer they do.
func AdapterFeatures(s *scenarios.Scenario) (n int) {
	own := protocols.Of[protocols.RedlockSettings](s.Lock)
	for _, isOn := range []bool{own.Fencing, own.Guard != nil, own.WakeUp != 0, own.Batching != 0, s.Nodes.Forbidden != "", len(s.Resources) > 1} {
		if isOn {
			n++
		}
	}
	return n
}
