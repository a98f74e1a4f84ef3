package random

import (
	"cmp"
	"math"
	"slices"

	"redlocksim/scenarios"
	"redlocksim/search/experiment"
)

const (
	// maxRare is how many rare runs are kept for mutation.
	maxRare = 64
	// rareVisits is in how many runs a state may have come up for the runs to be rare.
	rareVisits = 3
)

// RareRun is a run that went through a state that few other runs did.
type RareRun struct {
	Candidate experiment.Candidate `json:"candidate"`
	State     scenarios.State      `json:"state"`
}

// visits counts in how many runs each state came up: 255 is as many or more.
type visits []byte

func newVisits() visits { return make(visits, scenarios.NumStates) }

// add counts the states of a run.
func (v visits) add(states []scenarios.State) {
	for _, s := range states {
		if v[s] < 255 {
			v[s]++
		}
	}
}

// seen estimates how many states came up, some of which have the same place, from how many places are left (linear counting,
// Whang et al. 1990): within 1 %, two times in three, up to seven states for each place. One place that is left is the least
// that it goes by.
func (v visits) seen() int {
	left := 0
	for _, times := range v {
		if times == 0 {
			left++
		}
	}
	places := float64(len(v))
	return int(math.Round(places * math.Log(places/float64(max(left, 1)))))
}

// rarest is the state of a run that came up in the fewest; false if it has none.
func (v visits) rarest(states []scenarios.State) (scenarios.State, bool) {
	if len(states) == 0 {
		return 0, false
	}
	return slices.MinFunc(states, func(a, b scenarios.State) int { return cmp.Compare(v[a], v[b]) }), true
}

// rare are the rare runs so far, without a violation and within the budget unless the search goes beyond it: one for each
// state, those with the rarest first, and of these the newest.
func (x *explorer) rare(trials []trial) []RareRun {
	var all []RareRun
	for i := range slices.Backward(trials) {
		t := &trials[i]
		if len(t.Kinds) > 0 || !x.space.Beyond && t.Beyond {
			continue
		}
		if s, ok := x.Visits.rarest(t.States); ok {
			all = append(all, RareRun{t.Candidate, s})
		}
	}
	all = append(all, x.Rare...)
	slices.SortStableFunc(all, func(a, b RareRun) int { return cmp.Compare(x.Visits[a.State], x.Visits[b.State]) })
	kept := all[:0]
	is, of := map[scenarios.State]bool{}, map[uint64]int{}
	for _, r := range all {
		if x.Visits[r.State] > rareVisits || is[r.State] || len(kept) == maxRare {
			continue
		}
		if of[r.Candidate.Seed]++; of[r.Candidate.Seed] <= maxSiblings {
			is[r.State], kept = true, append(kept, r)
		}
	}
	return slices.Clip(kept)
}
