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

// TestARunThatDoesNotRepeat: a run that has another history when it is made again ends the search, and leaves its experiment.
func TestARunThatDoesNotRepeat(t *testing.T) {
	dir := t.TempDir()
	otherwise := func(r *scenarios.Result) error {
		r.History = r.History[:len(r.History)-1]
		return nil
	}
	_, err := Explore(t.Context(), experiment.NewSpace(experiment.DefaultBase()), Options{Runs: 50, Generation: 50, Dir: dir, onWire: otherwise})
	path := filepath.Join(dir, search.FailedFile)
	if !errors.Is(err, scenarios.ErrNotRepeated) || !strings.Contains(err.Error(), " events and ") || !strings.Contains(err.Error(), path) {
		t.Fatalf("the search ends with %v", err)
	}
	if _, err := scenarios.Load(path); err != nil {
		t.Error(err)
	}
}

// The first run is made on tier wire too, and of the others a share that grows with the features of the adapter that meet,
// unless they show nothing.
func TestRunsOnWire(t *testing.T) {
	for features, want := range map[int]int{0: 50, 1: 50, 2: 25, 3: 12, 4: 8, 6: 8} {
		const runs = 10_000
		sent := 0
		for seed := range uint64(runs) {
			x := trial{features: features, candidate: experiment.Candidate{Seed: seed}}
			if x.goesOnWire(1) {
				sent++
			}
			if !x.goesOnWire(0) {
				t.Fatalf("the first run, with seed %d, is not made on tier wire", seed)
			}
			x.NotTested = true
			if x.goesOnWire(0) || x.goesOnWire(1) {
				t.Fatalf("a run that shows nothing, with seed %d, is made on tier wire", seed)
			}
		}
		if share := runs / want; sent < share*3/4 || sent > share*5/4 {
			t.Errorf("with %d features %d of %d runs are made on tier wire, want about %d", features, sent, runs, share)
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
