package experiment

import (
	"slices"
	"testing"

	"redlocksim/faults"
	"redlocksim/search/settings"
)

// Without the settings that gave the lock other nodes or replicas, no fault is of one of them.
func TestFaultsAreOfNodesThatThereAre(t *testing.T) {
	s := NewSpace(DefaultBase())
	s.Swarm, s.Beyond = true, true
	gone := 0
	for seed := range uint64(600) {
		with := Candidate{Seed: seed}.Scenario(s)
		without := Candidate{Seed: seed, Without: settings.Changed(with, s.Base)}.Scenario(s)
		if !slices.Equal(with.Processes().Nodes, without.Processes().Nodes) {
			gone += len(with.Timeline) - len(without.Timeline)
		}
		for _, item := range without.Timeline {
			if item.Fault == nil {
				continue
			}
			if wrong := faults.Check(item.Fault, without.Processes()); len(wrong) > 0 {
				t.Errorf("seed %d: %v: %v", seed, item.Fault, wrong)
			}
			if on := item.When.After; on != nil && on.Node != "" && !slices.Contains(without.Processes().Nodes, on.Node) {
				t.Errorf("seed %d: %v waits for %s", seed, item.Fault, on.Node)
			}
		}
	}
	if gone == 0 {
		t.Error("no fault was of a node that there is not any more")
	}
}
