package random

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"redlocksim/history"
	"redlocksim/internal/mark"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/search/shrink"
	"redlocksim/sim/kernel"
)

const (
	// repeatEvery: every so many runs, one is repeated and compared.
	repeatEvery = 1000
	// wireRuns bounds the runs on both tiers for shrinking one that is not the same on both.
	wireRuns = 400
)

// again makes a run twice more, with and without measuring margins and states, and compares all three.
func again(r *scenarios.Result) error {
	out, err := scenarios.Run(r.Scenario, scenarios.Options{Seed: r.Seed, Margins: true, States: true})
	if err != nil {
		return err
	}
	if history.Hash(r.History) != out.HistoryHash {
		return fmt.Errorf("random: seed %d: %w: %s", r.Seed, scenarios.ErrNotRepeated, scenarios.FirstDifference(r.History, out.History))
	}
	return scenarios.Again(r.Scenario, scenarios.Options{Seed: r.Seed}, out)
}

// wireEvery: of so many runs about one is made on tier wire too, which costs as much as seven on tier model. How many depends
// on how many of the features the run has that the adapter and its scripts treat apart: the more of them meet, the rarer they
// do.
var wireEvery = [...]uint64{50, 50, 25, 12, 8}

// goesOnWire says whether a run, by its number, is made on tier wire too: the first, and then a sample that depends on its
// seed. One that shows nothing shows nothing there.
func (t *trial) goesOnWire(number int) bool {
	return !t.NotTested && (number == 0 || uint64(kernel.Key(0).WithString("wire").With(t.candidate.Seed))%wireEvery[min(t.features, len(wireEvery)-1)] == 0)
}

// onWire makes a run on tier wire too, where the adapter and its scripts run, which tier model replaces. Both must show the
// same: the error matches scenarios.ErrTiersDiffer if they do not.
func onWire(r *scenarios.Result) error { return r.SameOn(scenarios.Wire) }

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
func (x *explorer) keepDifference(ctx context.Context, t *trial, err error) error {
	if !errors.Is(err, scenarios.ErrTiersDiffer) || x.options.Dir == "" {
		return err
	}
	s, shrinkErr := shrink.Difference(ctx, t.result.Scenario, t.result.Seed, x.options.onWire, wireRuns)
	if shrinkErr != nil {
		return errors.Join(err, shrinkErr)
	}
	path, writeErr := x.keep(s, search.DifferenceFile)
	if writeErr != nil {
		return errors.Join(err, writeErr)
	}
	return fmt.Errorf("%w\nredlocksim suite %s shows it", err, path)
}
