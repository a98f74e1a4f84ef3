package sweep

import (
	"strings"

	"redlocksim/internal/outfile"
	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
	"redlocksim/search"
)

// survey is what the runs of a point reached, the runs in which faults were injected, and those that failed.
type survey struct {
	Tally    reach.Tally
	Effects  search.Effects
	Failures search.Failures
}

// add takes in a run, the number-th at a point.
func (v *survey) add(at []Setting, number int, scenario *scenarios.Scenario, seed uint64, set reach.Set, run *reach.Run) {
	v.Tally.Add(set, run)
	v.Effects.Add(search.Injected{Place: strings.Join(words(at), "\x00"), Number: number,
		Scenario: func() *scenarios.Scenario { return scenario }, Seed: seed}, run.Injected)
}

// merge takes in what the runs of other points reached, in the order of the points.
func (v *survey) merge(other *survey) {
	v.Tally.Merge(other.Tally)
	v.Effects.Merge(&other.Effects)
	v.Failures.Include(other.Failures)
}

// fails notes a run that failed, which a command repeats, and says so in a line.
func (v *survey) fails(command string, err error) string {
	f := search.NewFailure(nil, 0, 0, err)
	f.Command = command
	_ = v.Failures.Note(f, "", outfile.Rules{}) // without a directory nothing is written
	return "the run failed: " + f.Line()
}

// reached is what all runs reached. It makes runs again, to see which kinds of faults made a difference; command makes all.
func (v *survey) reached(command string) reach.Tally {
	if err := search.Safely(func() error { return v.Effects.Tell(&v.Tally) }); err != nil {
		v.fails(command, err)
	}
	return v.Tally
}
