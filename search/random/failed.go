package random

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"redlocksim/internal/jobs"
	"redlocksim/internal/mark"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/search/shrink"
)

// failed writes down the experiment of the job that failed, if one did, and has the error name the file.
func (x *explorer) failed(err error, run func(job int) (experiment.Candidate, int)) error {
	f, is := errors.AsType[*jobs.FailedError](err)
	if !is {
		return err
	}
	c, number := run(f.Job)
	return x.keepFailed(c, number, f.Err)
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

// keepDifference writes down a smaller run than that of a candidate, which is not the same on both tiers, and has the error
// name the file.
func (x *explorer) keepDifference(ctx context.Context, c experiment.Candidate, err error) error {
	if x.options.Dir == "" {
		return err
	}
	s, shrinkErr := shrink.Difference(ctx, c.Scenario(x.space), c.Seed, x.options.onWire, wireRuns)
	if shrinkErr != nil {
		return errors.Join(err, shrinkErr)
	}
	path, writeErr := x.keep(s, search.DifferenceFile)
	if writeErr != nil {
		return errors.Join(err, writeErr)
	}
	return fmt.Errorf("%w\nredlocksim suite %s shows it", err, path)
}
