package random

import (
	"slices"
	"testing"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/search/experiment"
)

// TestRareRuns: kept are runs with states that few others went through, one for each state, those with the rarest first.
func TestRareRuns(t *testing.T) {
	x := &explorer{space: experiment.NewSpace(experiment.DefaultBase()), checkpoint: &checkpoint{Visits: newVisits()}}
	generation := func(runs ...[]scenarios.State) {
		var trials []trial
		for i, states := range runs {
			trials = append(trials, trial{Candidate: experiment.Candidate{Seed: uint64(10*len(x.Rare) + i)}, States: states})
			x.Visits.add(states)
		}
		x.Rare = x.rare(trials)
	}
	kept := func() (states []scenarios.State) {
		for _, r := range x.Rare {
			states = append(states, r.State)
		}
		return states
	}
	generation([]scenarios.State{1, 2}, []scenarios.State{1, 3}, []scenarios.State{1, 3}, []scenarios.State{1})
	if got := kept(); !slices.Equal(got, []scenarios.State{2, 3}) {
		t.Errorf("the states %v are rare, want 2, which came up once, and 3, which came up twice", got)
	}
	generation([]scenarios.State{3, 4}, []scenarios.State{3}, []scenarios.State{2}, []scenarios.State{2})
	if got := kept(); !slices.Equal(got, []scenarios.State{4, 2}) {
		t.Errorf("then %v, want 4 and 2: 3 has come up four times", got)
	}

	violated := trial{States: []scenarios.State{7}}
	violated.Kinds = []checker.Kind{checker.LeaseOverlap}
	beyond := trial{States: []scenarios.State{8}}
	beyond.Beyond = true
	if got := x.rare([]trial{violated, beyond}); len(got) != 2 {
		t.Errorf("%v: runs that show something, and those beyond the budget, are no parents", got)
	}

	var siblings []trial
	for state := range scenarios.State(2 * maxSiblings) {
		siblings = append(siblings, trial{Candidate: experiment.Candidate{Seed: 1}, States: []scenarios.State{10 + state}})
	}
	x.Rare = nil
	if got := x.rare(siblings); len(got) != maxSiblings {
		t.Errorf("%d runs of one seed are kept, want %d", len(got), maxSiblings)
	}
}

func TestVisits(t *testing.T) {
	v := newVisits()
	if fresh := v.add([]scenarios.State{1, 2}); fresh != 2 {
		t.Errorf("%d states are new, want 2", fresh)
	}
	if fresh := v.add([]scenarios.State{2, 3}); fresh != 1 || v.seen() != 3 {
		t.Errorf("%d states are new and %d seen, want 1 and 3", fresh, v.seen())
	}
	for range 300 {
		v.add([]scenarios.State{2})
	}
	other := newVisits()
	other.add([]scenarios.State{2, 4})
	v.merge(other)
	if v[2] != 255 || v[4] != 1 || v.seen() != 4 {
		t.Errorf("merged: state 2 %d times, 4 %d times, %d seen", v[2], v[4], v.seen())
	}
}
