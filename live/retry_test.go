//go:build linux

package live

import (
	"slices"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/sim/storage"
)

// A run that is not as expected counts unless the machine held it up, and in any case if no delay excuses what it shows.
func TestUntilUndisturbed(t *testing.T) {
	type run struct {
		findings []checker.Kind
		stalled  time.Duration
		longer   time.Duration // unavailable than Redlock
	}
	const little, much = 0, time.Second
	expected := []checker.Kind{checker.StaleWrite}
	for _, test := range []struct {
		name  string
		runs  []run
		count int // how many are made
		kind  storage.Kind
		// notTested: none counts, and what they show is no verdict.
		notTested bool
	}{
		{name: "as expected", runs: []run{{expected, little, 0}}, count: 1},
		{name: "as expected, and held up", runs: []run{{expected, much, 0}}, count: 1},
		{name: "another finding", runs: []run{{nil, little, 0}}, count: 1},
		{name: "another finding, and held up", runs: []run{{nil, much, 0}, {expected, little, 0}}, count: 2},
		{name: "held up, then another finding", runs: []run{{nil, much, 0}, {nil, little, 0}}, count: 2},
		{name: "always held up", runs: []run{{nil, much, 0}, {nil, much, 0}, {nil, much, 0}, {nil, much, 0}, {nil, much, 0}}, count: 5, notTested: true},
		{name: "unavailable for far longer than held up", runs: []run{{nil, much, 51 * much}}, count: 1},
		{name: "unavailable for somewhat longer than held up", runs: []run{{nil, much, 49 * much}, {expected, little, 0}}, count: 2},
		{name: "two holders, and held up", runs: []run{{[]checker.Kind{checker.LeaseOverlap}, much, 0}}, count: 1},
		{name: "a fence that lets all pass, and held up", runs: []run{{[]checker.Kind{checker.LostUpdate, checker.StaleWrite}, much, 0}}, count: 1, kind: storage.Fenced},
		{name: "one that lets writes pass, and held up", runs: []run{{[]checker.Kind{checker.LostUpdate, checker.StaleWrite}, much, 0}}, count: 1, kind: storage.FencedWrites},
		{name: "tokens out of order, and held up", runs: []run{{[]checker.Kind{checker.TokenRegressed, checker.StaleWrite}, much, 0}}, count: 1},
	} {
		speeds := slowing(5)
		var made []int
		told := 0
		expected := expected
		if test.kind != storage.Register {
			expected = nil
		}
		again := func(r *scenarios.Result, heldUp time.Duration) {
			if told++; r.OK() || heldUp != much {
				t.Errorf("%s: told of a run with %v, held up for %v", test.name, r.Findings, heldUp)
			}
		}
		r, err := untilUndisturbed(speeds[:], false, again, func(speed int) (*scenarios.Result, time.Duration, error) {
			run := test.runs[len(made)]
			made = append(made, speed)
			r := &scenarios.Result{Scenario: &scenarios.Scenario{Expect: scenarios.Expect{Findings: expected}}, Findings: run.findings, Longer: run.longer}
			r.Scenario.Storage = test.kind
			if !slices.Equal(run.findings, expected) {
				r.Problems = []scenarios.Problem{{Class: scenarios.Safety, Text: "another"}}
			}
			return r, run.stalled, nil
		})
		if err != nil || !slices.Equal(made, []int{5, 3, 1, 1, 1}[:test.count]) {
			t.Errorf("%s: runs at speeds %v, %v; want %d", test.name, made, err, test.count)
		}
		if isTested := r.NotTested == nil && !r.Has(scenarios.NotTested); isTested == test.notTested || test.notTested && (r.Has(scenarios.Safety) || r.OK()) {
			t.Errorf("%s: problems %v, not tested: %v", test.name, r.Problems, r.NotTested)
		}
		if told != test.count-1 {
			t.Errorf("%s: told of %d runs that do not count, want %d", test.name, told, test.count-1)
		}
		if last := test.runs[len(test.runs)-1]; slices.Equal(last.findings, expected) != r.OK() {
			t.Errorf("%s: problems %v of a run with %v", test.name, r.Problems, last.findings)
		}
	}
}

// Where two runs of somebody's lock come to the same, or fail to, there is no third: it is the lock.
func TestWhatALockDoesNotComeTo(t *testing.T) {
	for _, c := range []struct {
		foreign bool
		reasons []string
		count   int
	}{
		{true, []string{"it never came", "it never came"}, 2},
		{true, []string{"it never came", "nobody asked", "nobody asked"}, 3},
		{false, []string{"it never came", "it never came", "it never came", "it never came", "it never came"}, 5},
	} {
		speeds, made := slowing(5), 0
		r, err := untilUndisturbed(speeds[:], c.foreign, func(*scenarios.Result, time.Duration) {}, func(int) (*scenarios.Result, time.Duration, error) {
			why := c.reasons[made]
			made++
			return &scenarios.Result{Scenario: &scenarios.Scenario{}, NotTested: []string{why}, Problems: []scenarios.Problem{{Class: scenarios.NotTested, Text: why}}}, time.Second, nil
		})
		if err != nil || made != c.count || r.NotTested == nil {
			t.Errorf("%v: %d runs, %v, %v", c, made, r.NotTested, err)
		}
	}
}
