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

// TestRunsOnWire: one run of 25 is made on tier wire too, unless it showed nothing.
func TestRunsOnWire(t *testing.T) {
	var tested, untested trial
	untested.NotTested = true
	for number, want := range map[int]bool{0: true, 1: false, wireEvery: true, wireEvery + 1: false} {
		if tested.goesOnWire(number) != want || untested.goesOnWire(number) {
			t.Errorf("run %d goes on wire: %v, and %v if it is not tested", number, tested.goesOnWire(number), untested.goesOnWire(number))
		}
	}
}

// TestARunThatFails: a run that ends with an error leaves its experiment behind, and the error says how to repeat it.
func TestARunThatFails(t *testing.T) {
	failed := errors.New("it fails")
	x := explorer{space: experiment.NewSpace(experiment.DefaultBase()), options: Options{Dir: t.TempDir()}}
	candidate := experiment.Candidate{Seed: 7}
	err := x.keepFailed(candidate, 3, failed)
	path := filepath.Join(x.options.Dir, search.FailedFile)
	if !errors.Is(err, failed) || !strings.Contains(err.Error(), "redlocksim run "+path+" --seed 7") {
		t.Errorf("%v", err)
	}
	all, err := scenarios.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(all[0].Timeline), len(candidate.Scenario(x.space).Timeline); got != want {
		t.Errorf("the file has %d items, the run had %d", got, want)
	}
	x.options.Dir = ""
	if err := x.keepFailed(candidate, 3, failed); err != failed {
		t.Errorf("without a directory: %v", err)
	}
}
