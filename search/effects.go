package search

import (
	"cmp"
	"maps"
	"slices"

	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
)

// effectTries bounds how many runs are made again without a kind of fault, to see whether it does anything.
const effectTries = 2

// Injected is a run in which faults were injected. Runs are told apart, and ordered, by where they were made and their
// number there.
type Injected struct {
	Place  string
	Number int
	// Scenario gives the experiment, and Seed is what it was run with, on tier model.
	Scenario func() *scenarios.Scenario
	Seed     uint64
}

func (s Injected) compare(o Injected) int {
	return cmp.Or(cmp.Compare(s.Place, o.Place), cmp.Compare(s.Number, o.Number))
}

// Effects are, of each kind of fault, the first runs in which it was injected. They do not depend on the order in which
// runs are added. The zero Effects are of no runs.
type Effects struct {
	first map[string][]Injected
}

// Add takes in a run in which these kinds of faults were injected.
func (e *Effects) Add(run Injected, kinds []string) {
	for _, kind := range kinds {
		e.keep(kind, run)
	}
}

func (e *Effects) keep(kind string, runs ...Injected) {
	if e.first == nil {
		e.first = map[string][]Injected{}
	}
	kept := append(e.first[kind], runs...)
	slices.SortFunc(kept, Injected.compare)
	kept = slices.CompactFunc(kept, func(a, b Injected) bool { return a.compare(b) == 0 })
	e.first[kind] = kept[:min(len(kept), effectTries)]
}

// Tell adds to a tally the kinds of faults that made a difference to one of the runs, unless the tally has them. The runs
// are made again without them.
func (e *Effects) Tell(t *reach.Tally) error {
	for _, kind := range slices.Sorted(maps.Keys(e.first)) {
		for _, run := range e.first[kind] {
			if t.Reached.Reached(reach.Effect, kind) > 0 {
				break
			}
			is, err := scenarios.IsEffective(run.Scenario(), run.Seed, kind)
			if err != nil {
				return err
			}
			if is {
				t.Reached.AddEffect(kind)
			}
		}
	}
	return nil
}
