package random

import (
	"context"
	"path/filepath"
	"slices"

	"redlocksim/internal/mark"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/shrink"
)

// note takes in runs that failed. The first that is not the same on tier wire is shrunk.
func (x *explorer) note(ctx context.Context, failures ...search.Failure) error {
	for _, f := range failures {
		isFirst := !slices.ContainsFunc(x.Summary.Failures.Failures, search.Failure.IsDifference)
		if f.IsDifference() && isFirst && x.options.Dir != "" {
			if err := x.shrinkDifference(ctx, &f); err != nil {
				f.Text += "\nit could not be made smaller: " + err.Error()
			}
		}
		if err := x.Summary.Failures.Note(f, x.options.Dir, x.options.Rules); err != nil {
			return err
		}
	}
	return nil
}

// shrinkDifference has a failure be that of a smaller run.
func (x *explorer) shrinkDifference(ctx context.Context, f *search.Failure) error {
	all, err := scenarios.Parse(f.File, f.Scenario)
	if err != nil {
		return err
	}
	s, err := shrink.Difference(ctx, all[0], f.Seed, x.options.onWire, wireRuns)
	if err != nil {
		return err
	}
	f.Scenario, err = s.Encode()
	return err
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
