package random

import (
	"math"
	"slices"
	"testing"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/search/experiment"
	"redlocksim/sim/kernel"
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
	v.add([]scenarios.State{1, 2})
	v.add([]scenarios.State{2, 3})
	if v.seen() != 3 {
		t.Errorf("%d seen, want 3", v.seen())
	}
	for range 300 {
		v.add([]scenarios.State{2})
	}
	if v[2] != 255 || v.seen() != 3 {
		t.Errorf("state 2 %d times, %d seen", v[2], v.seen())
	}
}

// How many states there were is known within 1 % where most places have several, and new ones still count.
func TestManyStates(t *testing.T) {
	v, n := newVisits(), 0
	for _, want := range []int{scenarios.NumStates, 4 * scenarios.NumStates, 5 * scenarios.NumStates, 6 * scenarios.NumStates} {
		for ; n < want; n++ {
			v.add([]scenarios.State{scenarios.State(uint64(kernel.Key(0).With(uint64(n))) % scenarios.NumStates)})
		}
		if got := v.seen(); math.Abs(float64(got-want)) > float64(want)/100 {
			t.Errorf("%d states, want about %d", got, want)
		}
	}
	for i := range v {
		v[i] = 1
	}
	if got := v.seen(); got < 7*scenarios.NumStates {
		t.Errorf("without a place left there are %d states", got)
	}
}
