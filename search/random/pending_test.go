package random

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/sim/history"
)

// patient is a context that ends when it was looked at so many times; never if that is not set.
type patient struct {
	context.Context
	limited atomic.Bool
	looks   atomic.Int64
}

func (p *patient) endAfter(looks int64) {
	p.looks.Store(looks)
	p.limited.Store(true)
}

func (p *patient) Err() error {
	if p.limited.Load() && p.looks.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A generation that was interrupted leaves nothing in the summary but the number of its violations, whether it was
// interrupted among its runs or among those of shrinking, and its violations in the directory.
func TestAnInterruptedGeneration(t *testing.T) {
	first := t.TempDir()
	o := Options{Seed: 1, Runs: 60, Generation: 30, Jobs: 1, Dir: first, shrinkRuns: 6}
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(*Summary) { cancel() }
	if _, err := Explore(ctx, beyond(), o); err != nil {
		t.Fatal(err)
	}
	o.Resume, o.Progress = true, func(*Summary) { t.Error("the second generation was not interrupted") }
	whole, err := Explore(ctx, beyond(), o)
	if err != nil || whole.Runs != 30 || whole.Unfinished != 0 {
		t.Fatalf("%v, %+v", err, whole)
	}
	unfinished := 0
	for _, looks := range []int64{3, 15, 30, 40, 60} {
		o.Dir = t.TempDir()
		if err := os.CopyFS(o.Dir, os.DirFS(first)); err != nil {
			t.Fatal(err)
		}
		ctx := &patient{Context: t.Context()}
		ctx.endAfter(looks)
		s, err := Explore(ctx, beyond(), o)
		if err != nil {
			t.Fatal(err)
		}
		n := s.Unfinished
		unfinished = max(unfinished, n)
		s.Unfinished = 0
		if !reflect.DeepEqual(s, whole) {
			t.Errorf("after %d looks\n%+v\nwant\n%+v", looks, *s, *whole)
		}
		raw := rawFiles(t, o.Dir)
		if len(raw) > n || looks >= 30 && len(raw) == 0 {
			t.Errorf("after %d looks %d violations and %d files", looks, n, len(raw))
		}
		for _, file := range raw {
			if _, err := scenarios.Load(file); err != nil {
				t.Error(err)
			}
		}
		// They are there until the generation is done.
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Explore(ended, beyond(), o); err != nil {
			t.Fatal(err)
		}
		if again := rawFiles(t, o.Dir); !slices.Equal(again, raw) {
			t.Errorf("of %v there are %v when nothing more was done", raw, again)
		}
	}
	if unfinished == 0 {
		t.Error("no violation was found in any generation that was interrupted")
	}
}

// rawFiles are the violations in a directory that are not shrunk.
func rawFiles(t *testing.T, dir string) []string {
	t.Helper()
	raw, err := filepath.Glob(filepath.Join(dir, search.RawPattern))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// A search with a limit on time drops nothing: the last generation is a whole one, and what waits then is shrunk.
func TestForEndsBetweenGenerations(t *testing.T) {
	dir := t.TempDir()
	o := Options{Seed: 3, For: 100 * time.Millisecond, Generation: 5, Dir: dir, shrinkRuns: 4}
	s, err := Explore(t.Context(), beyond(), o)
	if err != nil || s.Runs == 0 || s.Runs%5 != 0 || s.Violations == 0 || s.Unfinished != 0 || len(s.Findings) == 0 {
		t.Fatalf("%v, %+v", err, s)
	}
	// Something nobody knows of yet, and no time.
	space := experiment.NewSpace(weak(t))
	space.Beyond = true
	first := firstWithin(t, space, 0, func(*violated) bool { return true })
	o.Dir, o.For = t.TempDir(), 1
	c, err := open(space, o.whole(false))
	if err != nil {
		t.Fatal(err)
	}
	c.Pending = []pending{first.pending()}
	if err := c.write(o.Dir, o.Rules); err != nil {
		t.Fatal(err)
	}
	o.Resume = true
	if s, err = Explore(t.Context(), space, o); err != nil || s.Runs != 0 || len(s.Findings) != 1 {
		t.Errorf("%v, %+v", err, s)
	}
	if c, err = load(o.Dir); err != nil || len(c.Pending) != 0 {
		t.Errorf("%v, %+v wait", err, c.Pending)
	}
}

// What is known beyond the budget says nothing about what happens within it, and what is known where faults exceed it and are
// no excuse explains the like and what is excused. However many wait that are beyond it, those within it are not left aside.
func TestABrokenBudgetExcusesNothingWithinIt(t *testing.T) {
	families := []string{"kill", "pause-of-client"}
	within, despite, beyond := search.Shown{}, search.Shown{Despite: true}, search.Shown{Beyond: true}
	for i, known := range []search.Shown{beyond, despite, within} { // each explains itself, and those before it
		all := search.Findings{{Kind: checker.LeaseOverlap, Families: families[:1], Beyond: known.Beyond, Despite: known.Despite}}
		for j, s := range []search.Shown{beyond, despite, within} {
			s.Kind, s.Families = checker.LeaseOverlap, families
			if got := all.Explain(s) == 1; got != (j <= i) {
				t.Errorf("%+v explains %+v: %v", all[0], s, got)
			}
		}
	}
	x := explorer{checkpoint: &checkpoint{Pending: []pending{{numbered: numbered{Run: 1}, Shown: search.Shown{Kind: checker.LeaseOverlap, Families: families, Beyond: true}}, {numbered: numbered{Run: 2}, Shown: search.Shown{Kind: checker.LeaseOverlap, Families: families}}}}}
	if batch := x.batch(5); len(batch) != 2 {
		t.Errorf("taken for alike: %+v", batch)
	}
	x = explorer{options: Options{Jobs: 2}, checkpoint: &checkpoint{}}
	for i := range 2 * maxPending {
		x.Pending = append(x.Pending, pending{numbered: numbered{Run: i}, Shown: search.Shown{Kind: checker.LeaseOverlap, Beyond: i != 2*maxPending-1}})
	}
	if err := x.settle(t.Context(), 0); err != nil || len(x.Pending) != maxPending || x.Summary.Unshrunk != maxPending || x.Pending[0].Beyond {
		t.Errorf("%v, %d wait, %d do not, the first %+v", err, len(x.Pending), x.Summary.Unshrunk, x.Pending[0])
	}
}

// weak is a lock whose drift allowance does not cover the clocks that it may have. The allowance is written in another way
// than it is read again, and the budget covers all that is drawn but what makes nodes forget.
func weak(t *testing.T) *scenarios.Scenario {
	t.Helper()
	base, err := scenarios.ParseSettings("weak.yaml", []byte("lock: {ttl: 2s, drift: {factor: 0.50%, constant: 2ms}}\nbudget: {clock-rate: 25%, delay: 6s, pause: 6s, suspend: 6s}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return base
}

// A search finds what is within the budget, and shows it there. It does so when what looks alike is known from beyond it.
func TestWithinTheBudgetAmongThoseBeyondIt(t *testing.T) {
	space := experiment.NewSpace(weak(t))
	sum, err := Explore(t.Context(), space, Options{Runs: 30, Generation: 30, shrinkRuns: 30})
	if err != nil || sum.Violations == 0 || len(sum.Findings) == 0 || sum.Findings[0].Beyond {
		t.Fatalf("%v, %+v", err, sum)
	}
	space.Beyond = true
	first := firstWithin(t, space, 0, func(*violated) bool { return true })
	x := explorer{space: space, options: Options{Jobs: 1, shrinkRuns: 30}, checkpoint: &checkpoint{}}
	x.Pending = []pending{first.pending()}
	x.Summary.Findings = search.Findings{{Kind: first.Kinds[0], Families: first.Families, Beyond: true}}
	if err := x.settle(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if found := x.Summary.Findings; len(found) != 2 || found[1].Beyond || found[1].Kind != first.Kinds[0] || found[0].Times != 0 {
		t.Errorf("%+v", found)
	}
}

// What no fault excuses counts in any search, and the rest of a run beyond the budget only in one that goes there.
func TestWhatCounts(t *testing.T) {
	both := []checker.Kind{checker.LeaseOverlap, checker.Conduct}
	for _, c := range []struct {
		beyond  bool
		excused []checker.Kind
		want    []checker.Kind
	}{{false, nil, both}, {false, both[:1], both[1:]}, {false, both, nil}, {true, both[:1], both}} {
		x := &explorer{space: experiment.Space{Beyond: c.beyond}, checkpoint: &checkpoint{}}
		found := &trial{Trial: search.Trial{Kinds: both, Excused: c.excused, Beyond: true}}
		if got := counting(x.space, found); !slices.Equal(got, c.want) {
			t.Errorf("%v of which %v are excused count, in a search beyond the budget: %v, want %v", got, c.excused, c.beyond, c.want)
		}
		if got := found.Shown(checker.LeaseOverlap, found.Settings).Beyond; got != slices.Contains(c.excused, checker.LeaseOverlap) {
			t.Errorf("lease-overlap is beyond the budget: %v", got)
		}
	}
}

// violated is a run of a seed that violates something.
type violated struct {
	trial
	seed uint64
}

func (v *violated) pending() pending {
	return pending{numbered: numbered{Candidate: experiment.Candidate{Seed: v.seed}}, Shown: v.Shown(v.Kinds[0], v.Settings)}
}

// firstWithin is the first run of a space from a seed on that violates something within the budget, and that is as it is to be.
func firstWithin(t *testing.T, space experiment.Space, seed uint64, is func(*violated) bool) violated {
	t.Helper()
	for end := seed + 10_000; seed < end; seed++ {
		found, _, err := try(space, experiment.Candidate{Seed: seed}, new(history.History))
		if err != nil {
			t.Fatal(err)
		}
		if v := (violated{found, seed}); len(found.Kinds) > 0 && !found.Beyond && is(&v) {
			return v
		}
	}
	t.Fatal("there is none")
	return violated{}
}

// Without some fault, a client that crashed or a node that was down, others can do more harm: what is within the budget is
// not made an instance of what is beyond it by taking out what is known.
func TestReduceStaysWithinTheBudget(t *testing.T) {
	space := experiment.NewSpace(weak(t))
	space.Beyond = true
	var known string
	first := firstWithin(t, space, 1190, func(found *violated) bool {
		for _, known = range found.Families {
			without, _, err := try(space, experiment.Candidate{Seed: found.seed, Without: []string{known}}, new(history.History))
			if err != nil {
				t.Fatal(err)
			}
			if without.Beyond && slices.Contains(without.Kinds, found.Kinds[0]) {
				return true
			}
		}
		return false
	})
	x := explorer{space: space, checkpoint: &checkpoint{}}
	x.Summary.Findings = search.Findings{{Kind: first.Kinds[0], Families: []string{known}}}
	p := first.pending()
	p = (&question{space: space, findings: x.Summary.Findings}).reduce(p, new(history.History), func(err error) { t.Error(err) })
	if p.Known != 1 || p.Beyond {
		t.Errorf("%+v", p)
	}
}
