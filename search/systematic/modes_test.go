package systematic

import (
	"testing"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/search/searchtest"
)

// A search of any protocol on any arrangement of nodes, within the budget and beyond it, ends without a run that fails: what it
// finds is no alarm.
func TestEveryModeRuns(t *testing.T) {
	t.Parallel()
	for i, base := range searchtest.Scenarios(t) { // those of a protocol follow each other
		beyond := i%2 == 0
		b, err := NewBase(base, 51, beyond)
		if err != nil {
			t.Errorf("%s: %v", base.Name, err)
			continue
		}
		s, err := Explore(t.Context(), b, Options{Runs: 40, Beyond: beyond, runsToShrink: 10})
		if err != nil || s.Placements.Covered != 40 || s.Placements.Tested() == 0 {
			t.Errorf("%s, beyond the budget: %v: %+v: %v", base.Name, beyond, s.Placements, err)
		}
	}
}

// A placement that panics is a failure with a file, and ends nothing else.
func TestAPlacementThatFails(t *testing.T) {
	b := newBase(t, tiny, false)
	b.faults[3] = scenarios.Item{Kind: "kill", Fault: (*faults.Kill)(nil)}
	o := Options{Dir: t.TempDir(), Runs: 100}
	s, err := Explore(t.Context(), b, o)
	failed := 0
	for k := range uint64(100) {
		if k*s.Placements.Stride%s.Placements.Of%uint64(len(b.faults)) == 3 {
			failed++
		}
	}
	if s.Placements.Covered != 100 || failed == 0 || s.Failed != failed || s.Placements.NotTested.Failed != uint64(failed) || err == nil {
		t.Errorf("%d of %d placements fail, and %+v, %v", failed, s.Placements.Covered, s.Failures, err)
	}
}
