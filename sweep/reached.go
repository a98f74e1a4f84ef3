package sweep

import (
	"strings"

	"redlocksim/reach"
	"redlocksim/scenarios"
	"redlocksim/search"
)

// survey is what the runs of a point reached, and the runs in which faults were injected.
type survey struct {
	Tally   reach.Tally
	Effects search.Effects
}

// add takes in a run, the number-th at a point.
func (v *survey) add(at []Setting, number int, scenario *scenarios.Scenario, seed uint64, set reach.Set, run *reach.Run) {
	v.Tally.Add(set, run)
	v.Effects.Add(search.Injected{Place: strings.Join(words(at), "\x00"), Number: number,
		Scenario: func() *scenarios.Scenario { return scenario }, Seed: seed}, run.Injected)
}

// merge takes in what the runs of other points reached, in whatever order.
func (v *survey) merge(other *survey) {
	v.Tally.Merge(other.Tally)
	v.Effects.Merge(&other.Effects)
}

// reached is what all runs reached. It makes runs again, to see which kinds of faults made a difference.
func (v *survey) reached() (reach.Tally, error) {
	err := v.Effects.Tell(&v.Tally)
	return v.Tally, err
}
