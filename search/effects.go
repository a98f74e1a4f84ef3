package search

import (
	"slices"

	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
	"redlocksim/scenarios/verdict"
)

// effectTries bounds how many runs are made again without a kind of fault, to see whether it does anything.
const effectTries = 2

// Injected is a run in which faults of these kinds were injected.
type Injected struct {
	Kinds []string
	// Scenario gives the experiment, and Seed is what it was run with, on tier model.
	Scenario func() *scenarios.Scenario
	Seed     uint64
}

// Effects adds to a tally the kinds of faults that made a difference to one of the first runs that had them, unless the tally
// has them. The runs are made again without them.
func Effects(t *reach.Tally, runs []Injected) error {
	tries := map[string]int{}
	for _, run := range runs {
		for _, kind := range slices.Compact(slices.Sorted(slices.Values(run.Kinds))) {
			if tries[kind]++; tries[kind] > effectTries || t.Reached.Reached(reach.Effect, kind) > 0 {
				continue
			}
			switch is, err := verdict.IsEffective(run.Scenario(), run.Seed, kind); {
			case err != nil:
				return err
			case is:
				t.Reached.AddEffect(kind)
			}
		}
	}
	return nil
}
