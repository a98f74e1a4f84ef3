package random

import (
	"context"
	"fmt"
	"slices"

	"redlocksim/scenarios"
	"redlocksim/search/experiment"
	"redlocksim/sim/history"
)

const (
	// repeatEvery: every so many runs, one is repeated and compared.
	repeatEvery = 1000
	// wireRuns bounds the runs on both tiers for shrinking one that is not the same on both.
	wireRuns = 400
)

// selfCheck makes those runs of a generation once more that are to be the same, in the same way or on tier wire, and counts
// them.
func (x *explorer) selfCheck(ctx context.Context, first int, trials []trial) error {
	worded := slices.Clone(x.Worded) // until all of them are done
	var onWire []int
	if x.space.Foreign == nil {
		onWire = worded.choose(trials, first)
	}
	all := slices.Clone(onWire)
	for i := range trials {
		if isRepeated(first+i) && !trials[i].failed && !slices.Contains(all, i) {
			all = append(all, i)
		}
	}
	slices.Sort(all)
	checks := make([]check, len(all))
	for n, i := range all {
		checks[n] = check{numbered{first + i, trials[i].Candidate}, isRepeated(first + i), slices.Contains(onWire, i)}
	}
	if _, err := each(ctx, x, againJobs, checks, nil); err != nil || ctx.Err() != nil {
		return err
	}
	x.Worded = worded
	x.Summary.OnWire += len(onWire)
	return nil
}

// isRepeated says whether a run, by its number, is repeated and compared.
func isRepeated(number int) bool { return number%repeatEvery == 0 }

// again makes a run twice more, with and without measuring margins and states, and compares all three.
func again(space experiment.Space, r *scenarios.Result) error {
	out, err := scenarios.Run(r.Scenario, measured(space, r.Seed))
	if err != nil {
		return err
	}
	if history.Hash(r.History) != out.HistoryHash {
		return fmt.Errorf("random: seed %d: %w: %s", r.Seed, scenarios.ErrNotRepeated, scenarios.FirstDifference(r.History, out.History))
	}
	return scenarios.Again(r.Scenario, scenarios.Options{Seed: r.Seed, Foreign: space.Foreign}, out)
}
