package search

import (
	"slices"

	"redlocksim/faults"
	"redlocksim/reach"
	"redlocksim/scenarios"
)

// effectTries bounds how many runs of a generation are made again without a kind of fault, to see whether it does
// anything.
const effectTries = 2

// effects looks for runs that kinds of faults made a difference to, for those kinds of which none is known yet. Which runs
// these are does not depend on how many are made at a time.
func (x *explorer) effects(trials []trial) error {
	known := &x.Summary.Reached
	for _, k := range faults.Vocabulary() {
		tries := 0
		for i := range trials {
			if tries == effectTries || known.Reached(reach.Effect, k.Name) > 0 {
				break
			}
			t := &trials[i]
			if !slices.Contains(t.run.Injected, k.Name) {
				continue
			}
			tries++
			is, err := scenarios.IsEffective(t.candidate.Scenario(x.space), t.candidate.Seed, k.Name)
			if err != nil {
				return err
			}
			if is {
				known.AddEffect(k.Name)
			}
		}
	}
	return nil
}
