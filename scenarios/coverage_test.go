package scenarios_test

import (
	"sync"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/reach"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
)

// What the catalogue reaches: each entry of the table, or the table says why not.
func TestCatalogueReachesTheTable(t *testing.T) {
	var mu sync.Mutex
	var counts reach.Counts
	all := scenarios.Catalogue()
	each(len(all), func(i int) {
		if err := addReached(&mu, &counts, all[i]); err != nil {
			t.Error(err)
		}
	})
	for _, e := range counts.Never(reach.Trigger, nil) {
		t.Errorf("something is placed at %s, which never comes", e.Name)
	}
	for _, e := range reach.Table() {
		if e.Kind == reach.Trigger { // any event can be one; a scenario takes those it needs
			continue
		}
		n := counts.Reached(e.Kind, e.Name)
		switch {
		case n == 0 && e.Never == "":
			t.Errorf("no scenario reaches the %s %q (%s): write one, or say in the table why there can be none", e.Kind, e.Name, e.What)
		case n > 0 && e.Never != "":
			t.Errorf("the %s %q is reached %d times, and the table says %q", e.Kind, e.Name, n, e.Never)
		}
	}
	if unused := counts.Unused([]reach.Feature{reach.Fencing, reach.Guard, reach.WakeUp, reach.Batching, reach.Renewal, reach.Several}); unused != nil {
		t.Errorf("no scenario uses %v", unused)
	}
}

// addReached adds what a run reaches. Whether a fault had an effect is looked at until one of its kind had.
func addReached(mu *sync.Mutex, counts *reach.Counts, s *scenarios.Scenario) error {
	r, err := verdict.Judge(s, scenarios.Options{Seed: seedOf(s), Unhashed: true})
	if err != nil {
		return err
	}
	run := r.Reached()
	facts := reach.Of(run)
	mu.Lock()
	defer mu.Unlock()
	counts.Add(facts, run)
	for _, kind := range run.Injected {
		if counts.Reached(reach.Effect, kind) > 0 {
			continue
		}
		is, err := verdict.IsEffective(s, seedOf(s), kind)
		if err != nil {
			return err
		}
		if is {
			counts.AddEffect(kind)
		}
	}
	return nil
}

func seedOf(s *scenarios.Scenario) uint64 {
	if s.Recorded != nil {
		return s.Recorded.Seed
	}
	return 0
}

// What the library reports is not looked for in runs of another lock.
func TestReachedOfAnotherLock(t *testing.T) {
	library := func(env protocols.Env) (protocols.Locker, error) {
		found, _ := protocols.Find("redlock")
		return found.New(env)
	}
	for _, c := range []struct {
		name    string
		foreign *scenarios.Foreign
		other   bool
	}{
		{"32-pause-before-write", nil, false},
		{"32-pause-before-write", &scenarios.Foreign{New: library}, true},
		{"44-redisson/reentrant", nil, true},
	} {
		r := scenariotest.Judged(t, scenariotest.Named(t, c.name), scenarios.Options{Foreign: c.foreign})
		if got := r.Reached().Other; got != c.other {
			t.Errorf("%s with %v: another lock than the library: %v", c.name, c.foreign, got)
		}
	}
}
