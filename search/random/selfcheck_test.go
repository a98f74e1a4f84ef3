package random

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/sim/redis"
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

// The first run is made on tier wire too, and of the others a share.
func TestRunsOnWire(t *testing.T) {
	runs := make([]trial, 10_000)
	for i := range runs {
		runs[i].Candidate.Seed = uint64(i)
	}
	chosen := newWorded().choose(runs, 0)
	if share := len(runs) / wireEvery; len(chosen) < share*3/4 || len(chosen) > share*5/4 || chosen[0] != 0 {
		t.Errorf("%d of %d runs are made on tier wire, want about %d, and the first", len(chosen), len(runs), share)
	}
	for i := range runs {
		runs[i].NotTested, runs[i].Wordings = true, []redis.Wording{redis.Wording(i % redis.NumWordings)}
	}
	if chosen := newWorded().choose(runs, 0); chosen != nil {
		t.Errorf("%d runs that show nothing are made on tier wire", len(chosen))
	}
}

// A run that has something to say on tier wire that few others had goes there, that with the most first, and not too many do.
func TestWordings(t *testing.T) {
	w, unsampled := newWorded(), trial{}
	for len(newWorded().choose([]trial{unsampled}, 1)) > 0 {
		unsampled.Candidate.Seed++
	}
	generation := slices.Repeat([]trial{unsampled}, wordedEvery)
	generation[2].Wordings, generation[5].Wordings = []redis.Wording{1, redis.NumWordings - 1}, []redis.Wording{1, 2, 3}
	var got []int
	for range 3 * wireWordings {
		got = append(got, w.choose(generation, 1)...)
	}
	if want := []int{5, 5, 5, 2, 2, 2}; !slices.Equal(got, want) {
		t.Errorf("runs %v of their generations go on tier wire, want %v", got, want)
	}
	if got := newWorded().choose(slices.Repeat(generation, 2), 1); len(got) != 2 {
		t.Errorf("runs %v of %d go on tier wire, want two", got, 2*wordedEvery)
	}
	others := newWorded()
	others[1], others[7] = 1, 2
	if w.merge(others); w[1] != wireWordings || w[7] != 2 || w[2] != wireWordings || w[8] != 0 {
		t.Errorf("of two shards together %v and so on", w[:9])
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
