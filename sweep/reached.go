package sweep

import (
	"strings"
	"sync"

	"redlocksim/reach"
	"redlocksim/scenarios"
	"redlocksim/search"
)

// survey is what the runs of a point reached, and the runs in which faults were injected.
type survey struct {
	tally   reach.Tally
	effects search.Effects
}

// add takes in a run, the number-th at a point.
func (v *survey) add(at []Setting, number int, scenario *scenarios.Scenario, seed uint64, set reach.Set, run *reach.Run) {
	v.tally.Add(set, run)
	v.effects.Add(search.Injected{Place: strings.Join(words(at), "\x00"), Number: number,
		Scenario: func() *scenarios.Scenario { return scenario }, Seed: seed}, run.Injected)
}

// gathering adds up the surveys of points that several workers run at a time, in whatever order. The zero gathering is ready.
type gathering struct {
	mu  sync.Mutex
	sum survey
}

func (g *gathering) add(other *survey) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sum.tally.Merge(other.tally)
	g.sum.effects.Merge(&other.effects)
}

// reached is what all runs reached. It makes runs again, to see which kinds of faults made a difference.
func (g *gathering) reached() (reach.Tally, error) {
	err := g.sum.effects.Tell(&g.sum.tally)
	return g.sum.tally, err
}
