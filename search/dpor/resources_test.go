package dpor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
	"redlocksim/sim/kernel"
)

func withResources(lock string, names ...string) *scenarios.Scenario {
	s := base(lock)
	s.Resources = names
	return s
}

// With several resources there are worlds more: in which they are locked as one, by a lock that can, and else one after the
// other. What the worlds are can be written down as a file.
func TestWorldsOfSeveralResources(t *testing.T) {
	names := func(worlds []*World) (all []string) {
		for _, w := range worlds {
			all = append(all, w.Name)
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	one := names(Worlds(base("")))
	for what, c := range map[string]struct {
		lock  string
		more  []string
		joint bool
	}{
		"the library": {"", []string{"one locks both as one, another the last", "two lock both as one, in opposite orders"}, true},
		"one node":    {single, []string{"two lock one after the other, in opposite orders"}, false},
	} {
		worlds := Worlds(withResources(c.lock, "a", "b", "c"))
		want := slices.Sorted(slices.Values(append(slices.Clone(one), c.more...)))
		if got := names(worlds); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
		for _, w := range worlds {
			w.setup.Scenario.Title, w.setup.Scenario.Source, w.setup.Scenario.Explanation = "t", "s", "e"
			w.setup.Scenario.Duration += time.Minute // a fault that may be injected at any moment is after the end
			data, err := w.setup.Scenario.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := scenarios.Parse("world.yaml", data); err != nil {
				t.Errorf("%s, %s, %s: %v\n%s", what, w.Name, w.Fault, err, data)
			}
		}
	}
}

// All orders of a lock on two resources and one that has a resource in common with it, on one node: whoever is first is
// granted, which is either, and the other is not.
func TestOrdersOfSeveralResources(t *testing.T) {
	b := withResources("", "a", "b")
	shapes := several(b, hold(b.Lock.TTL*6/5))
	if len(shapes) != 2 {
		t.Fatalf("%d shapes", len(shapes))
	}
	for _, x := range shapes {
		s := newSetup(b, 1, x.programs, nil, x.length)
		granted := map[string]int{}
		s.Each = func(r *Run) {
			in := 0
			for i := range r.History {
				if e := &r.History[i]; e.Name == "granted" && e.Time >= int64(s.Begin) {
					granted[e.Process]++
					in++
				}
			}
			if in != 1 {
				t.Errorf("%s: %d are granted", x.name, in)
			}
		}
		r, err := explore(t.Context(), s)
		if err != nil || !r.Complete {
			t.Fatalf("%v, %+v", err, r)
		}
		if len(granted) != 2 || r.Violations+r.BeyondViolations > 0 || r.Reached.Reached(reach.Step, "several-granted") == 0 || r.Unused != nil {
			t.Errorf("%s: %+v, granted %v", x.name, *r, granted)
		}
	}
}

// A lock that is wrong without any fault is found in every world of several resources, on either.
func TestBrokenOrdersOfSeveralResources(t *testing.T) {
	found := map[string]bool{}
	for _, w := range Worlds(withResources(getSet, "a", "b")) {
		if w.Fault != "no fault" || !strings.HasPrefix(w.Name, "two lock") {
			continue
		}
		w.setup.Executions, w.setup.Late = 20_000, 0
		w.setup.Each = func(r *Run) {
			if !slices.Contains(r.Kinds, checker.LeaseOverlap) {
				return
			}
			report, err := checker.Check(r.History, w.setup.Scenario.CheckOptions())
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range report.Findings {
				if f.Kind == checker.LeaseOverlap {
					found[f.Resource] = true
				}
			}
		}
		if _, err := explore(t.Context(), w.setup); err != nil {
			t.Fatal(err)
		}
	}
	if !found["a"] || !found["b"] {
		t.Errorf("broken: %v", found)
	}
}

// Runs that differ in the resource alone end differently.
func TestOrderTellsResourcesApart(t *testing.T) {
	keys := map[kernel.Key]bool{}
	for _, on := range []string{"a", "b"} {
		s := newSetup(withResources("", "a", "b"), 1, []program{{[]scenarios.Step{tryLock(on)}, 1}}, nil, time.Second)
		s.Executions = 1
		s.Each = func(r *Run) { keys[r.fingerprint] = true }
		if _, err := explore(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if len(keys) != 2 {
		t.Errorf("%d ends", len(keys))
	}
}
