package random

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"redlocksim/history"
	"redlocksim/internal/mark"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/search/shrink"
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
		if isRepeated(first+i) && !slices.Contains(all, i) {
			all = append(all, i)
		}
	}
	slices.Sort(all)
	err := x.each(ctx, len(all), func(i int, buffer *history.History) error {
		i = all[i]
		c := trials[i].candidate
		_, r, err := perform(x.space, c, buffer)
		if err != nil {
			return x.keepFailed(c, first+i, err)
		}
		if slices.Contains(onWire, i) {
			if err := x.options.onWire(r); err != nil {
				return x.keepDifference(ctx, r, err)
			}
		}
		if isRepeated(first + i) {
			if err := again(x.space, r); err != nil {
				return x.keepFailed(c, first+i, err)
			}
		}
		return nil
	})
	if err != nil || ctx.Err() != nil {
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

// keepFailed writes down the experiment of a run that ended with an error, and has the error name the file.
func (x *explorer) keepFailed(c experiment.Candidate, run int, err error) error {
	if x.options.Dir == "" {
		return err
	}
	s := c.Scenario(x.space)
	s.Title, s.Source, s.Explanation = "a run that fails", "a random search", fmt.Sprintf("Run %d ends with an error.", run)
	path, writeErr := x.keep(s, search.FailedFile)
	if writeErr != nil {
		return errors.Join(err, writeErr)
	}
	return fmt.Errorf("%w\nredlocksim run %s --seed %d shows it", err, path, c.Seed)
}

// keep writes a scenario file to the search's directory.
func (x *explorer) keep(s *scenarios.Scenario, name string) (path string, err error) {
	data, err := s.Encode()
	if err != nil {
		return "", err
	}
	path = filepath.Join(x.options.Dir, name)
	return path, x.options.Rules.Write(path, append([]byte(mark.YAML+"\n"), data...))
}

// keepDifference writes down a smaller run that is not the same on both tiers, and has the error name the file. Any other error
// is returned as it is.
func (x *explorer) keepDifference(ctx context.Context, r *scenarios.Result, err error) error {
	if !errors.Is(err, scenarios.ErrTiersDiffer) || x.options.Dir == "" {
		return err
	}
	s, shrinkErr := shrink.Difference(ctx, r.Scenario, r.Seed, x.options.onWire, wireRuns)
	if shrinkErr != nil {
		return errors.Join(err, shrinkErr)
	}
	path, writeErr := x.keep(s, search.DifferenceFile)
	if writeErr != nil {
		return errors.Join(err, writeErr)
	}
	return fmt.Errorf("%w\nredlocksim suite %s shows it", err, path)
}
