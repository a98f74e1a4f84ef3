package random

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/search"
	"redlocksim/search/experiment"
)

// oddRelease is a tier wire on which a run differs as soon as client-2 releases a lock.
func oddRelease(r *verdict.Result) error {
	for i := range r.History {
		if e := &r.History[i]; e.Process == "client-2" && e.Func == "release" {
			return fmt.Errorf("%w: event %d", verdict.ErrTiersDiffer, i+1)
		}
	}
	return nil
}

// TestTiersThatDiffer: a run that is not the same on tier wire does not end the search, which leaves a small one behind.
func TestTiersThatDiffer(t *testing.T) {
	dir := t.TempDir()
	space := experiment.NewSpace(experiment.DefaultBase())
	summary, err := Explore(t.Context(), space, Options{Runs: 100, Generation: 50, Dir: dir, onWire: oddRelease})
	path := filepath.Join(dir, "failed-1.yaml")
	if !errors.Is(err, verdict.ErrTiersDiffer) || summary.Runs != 100 || summary.Failed < 2 || !strings.Contains(err.Error(), "redlocksim suite "+path) {
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
	r, err := verdict.Verify(s, scenarios.Options{Seed: s.Recorded.Seed})
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK() || !errors.Is(oddRelease(r), verdict.ErrTiersDiffer) {
		t.Errorf("on tier model %v, and then %v", r.Problems, oddRelease(r))
	}
}

// TestARunThatDoesNotRepeat: a run that has another history when it is made again leaves its experiment.
func TestARunThatDoesNotRepeat(t *testing.T) {
	dir := t.TempDir()
	otherwise := func(r *verdict.Result) error {
		r.History = r.History[:len(r.History)-1]
		return nil
	}
	_, err := Explore(t.Context(), experiment.NewSpace(experiment.DefaultBase()), Options{Runs: 50, Generation: 50, Dir: dir, onWire: otherwise})
	path := filepath.Join(dir, "failed-1.yaml")
	if !errors.Is(err, verdict.ErrNotRepeated) || !strings.Contains(err.Error(), " nothing more happens") || !strings.Contains(err.Error(), path) {
		t.Fatalf("the search ends with %v", err)
	}
	if _, err := scenarios.Load(path); err != nil {
		t.Error(err)
	}
}

// The first run is made on tier wire too, and of the others a share, but for those that show nothing.
func TestRunsOnWire(t *testing.T) {
	const runs = 10_000
	made := 0
	onWire := func(*verdict.Result) error { made++; return nil }
	wires := func(run, seed int, t0 trial) bool {
		err := check(nil, onWire, &t0, &verdict.Result{Seed: uint64(seed)}, run)
		return err == nil && t0.OnWire
	}
	for seed := range runs {
		wires(1, seed, trial{})
		if wires(1, seed, trial{Trial: search.Trial{NotTested: true}}) {
			t.Fatalf("a run that shows nothing is made on tier wire")
		}
	}
	if share := runs / wireEvery; made < share*3/4 || made > share*5/4 {
		t.Errorf("%d of %d runs are made on tier wire, want about %d", made, runs, share)
	}
}

// TestRunsThatFail: the runs of some seeds panic, each of its own accord, when they are made or made again. All others count,
// and each that failed has a file and a command that repeat it.
func TestRunsThatFail(t *testing.T) {
	var panics []uint64
	space := experiment.NewSpace(experiment.DefaultBase())
	o := Options{Runs: 120, Generation: 60, Dir: t.TempDir(), onWire: func(r *verdict.Result) error {
		if panics = append(panics, r.Seed); len(panics) > 1 {
			panic("at sea")
		}
		return &scenarios.RunError{Scenario: r.Scenario, Tier: scenarios.Wire, Seed: r.Seed, Err: errors.New("it fails")}
	}, Jobs: 1}
	summary, err := Explore(t.Context(), space, o)
	if summary == nil || summary.Runs != 120 || summary.Failed != len(panics) || len(panics) < 3 {
		t.Fatalf("%d runs of 120 panic, and the search has %+v, %v", len(panics), summary, err)
	}
	for i, want := range []string{"it fails", "panic: at sea"} {
		f := summary.Failures.Failures[i]
		path := filepath.Join(o.Dir, f.File)
		repeat := fmt.Sprintf("redlocksim run %s%s --seed %d", path, []string{" --tier wire", ""}[i], panics[i])
		if f.Seed != panics[i] || !strings.HasSuffix(f.Line(), want) || f.Repeat(o.Dir, "") != repeat {
			t.Errorf("failure %d is %+v, repeated by %q, want %q of seed %d, by %q", i+1, f, f.Repeat(o.Dir, ""), want, panics[i], repeat)
		}
		all, loadErr := scenarios.Load(path)
		if loadErr != nil {
			t.Fatal(loadErr)
		}
		if got, want := len(all[0].Timeline), len((experiment.Candidate{Seed: f.Seed}).Scenario(space).Timeline); got != want {
			t.Errorf("the file has %d items, the run had %d", got, want)
		}
	}
	if text := fmt.Sprintf("%d runs failed; the first: ", len(panics)); err == nil || !strings.HasPrefix(err.Error(), text) {
		t.Errorf("the search ends with %v, want %q", err, text)
	}
}
