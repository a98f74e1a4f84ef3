package random

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/experiment"
)

// oddRelease is a tier wire on which a run differs as soon as client-2 releases a lock.
func oddRelease(r *scenarios.Result) error {
	for i := range r.History {
		if e := &r.History[i]; e.Process == "client-2" && e.Func == "release" {
			return fmt.Errorf("%w: event %d", scenarios.ErrTiersDiffer, i+1)
		}
	}
	return nil
}

// TestTiersThatDiffer: a run that is not the same on tier wire ends the search, which leaves a small one behind.
func TestTiersThatDiffer(t *testing.T) {
	dir := t.TempDir()
	space := experiment.NewSpace(experiment.DefaultBase())
	_, err := Explore(t.Context(), space, Options{Runs: 100, Generation: 50, Dir: dir, onWire: oddRelease})
	path := filepath.Join(dir, search.DifferenceFile)
	if !errors.Is(err, scenarios.ErrTiersDiffer) || !strings.Contains(err.Error(), "redlocksim suite "+path) {
		t.Fatalf("the search ends with %v", err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all, err := scenarios.Parse(path, data)
	if err != nil {
		t.Fatal(err)
	}
	s := all[0]
	if len(s.Timeline) != 2 { // one client that releases, and one that asks as well
		t.Errorf("it could be smaller:\n%s", data)
	}
	r, err := scenarios.Verify(s, scenarios.Options{Seed: s.Recorded.Seed})
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK() || !errors.Is(oddRelease(r), scenarios.ErrTiersDiffer) {
		t.Errorf("on tier model %v, and then %v", r.Problems, oddRelease(r))
	}
}
