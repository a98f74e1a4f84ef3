package experiment

import (
	"slices"
	"testing"

	"redlocksim/faults"
	"redlocksim/search/settings"
)

// Every kind of fault is added about as often as any other, and one that joins the vocabulary takes its share from each of
// the others and moves nothing else.
func TestAKindThatJoinsMovesNothing(t *testing.T) {
	const draws = 17_000
	all := faults.Vocabulary()
	times := map[string]int{}
	for newest := range all {
		before := slices.Delete(slices.Clone(all), newest, newest+1)
		for seed := range uint64(draws / len(all)) {
			c := Choices(seed, "word", newest)
			was, is := choose(c, before).Name, choose(c, all).Name
			if is != was && is != all[newest].Name {
				t.Fatalf("seed %d: %s was chosen, and %s is with %s", seed, was, is, all[newest].Name)
			}
			times[is]++
		}
	}
	share := draws / len(all)
	for _, k := range all {
		if n := times[k.Name]; n < share*8/10 || n > share*12/10 {
			t.Errorf("%s was chosen %d times of about %d", k.Name, n, share)
		}
	}
}

// Without the settings that gave the lock other nodes or replicas, no fault is of one of them.
func TestFaultsAreOfNodesThatThereAre(t *testing.T) {
	s := NewSpace(DefaultBase())
	s.Swarm, s.Beyond = true, true
	gone := 0
	for seed := range uint64(600) {
		with := Candidate{Seed: seed}.Scenario(s)
		without := Candidate{Seed: seed, Mutations: []Mutation{{Without: settings.Changed(with, s.Base)}}}.Scenario(s)
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
