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
		{name: "as expected", runs: []run{{expected, little}}, count: 1},
		{name: "as expected, and held up", runs: []run{{expected, much}}, count: 1},
		{name: "another finding", runs: []run{{nil, little}}, count: 1},
		{name: "another finding, and held up", runs: []run{{nil, much}, {expected, little}}, count: 2},
		{name: "held up, then another finding", runs: []run{{nil, much}, {nil, little}}, count: 2},
		{name: "always held up", runs: []run{{nil, much}, {nil, much}, {nil, much}, {nil, much}, {nil, much}}, count: 5, notTested: true},
		{name: "two holders, and held up", runs: []run{{[]checker.Kind{checker.LeaseOverlap}, much}}, count: 1},
		{name: "a fence that lets all pass, and held up", runs: []run{{[]checker.Kind{checker.LostUpdate, checker.StaleWrite}, much}}, count: 1, kind: storage.Fenced},
		{name: "one that lets writes pass, and held up", runs: []run{{[]checker.Kind{checker.LostUpdate, checker.StaleWrite}, much}}, count: 1, kind: storage.FencedWrites},
		{name: "tokens out of order, and held up", runs: []run{{[]checker.Kind{checker.TokenRegressed, checker.StaleWrite}, much}}, count: 1},
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
			r := &scenarios.Result{Scenario: &scenarios.Scenario{Expect: scenarios.Expect{Findings: expected}}, Findings: run.findings}
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

// Two runs of somebody's lock with the same outcome count if the second is as slow as they get. The library's own are retried
// to the end.
func TestTheSameOutcomeTwice(t *testing.T) {
	type outcome struct {
		finding   checker.Kind
		notTested string
	}
	same := outcome{notTested: "it never came to that"}
	for _, c := range []struct {
		name    string
		foreign bool
		runs    []outcome
		count   int
	}{
		{"not tested", true, []outcome{same, same, same}, 3},
		{"late writes", true, []outcome{{finding: checker.StaleWrite}, {finding: checker.StaleWrite}, {finding: checker.StaleWrite}}, 3},
		{"another reason", true, []outcome{same, same, {notTested: "nobody asked"}, {notTested: "nobody asked"}}, 4},
		{"another finding", true, []outcome{{finding: checker.StaleWrite}, {finding: checker.StaleWrite}, {finding: checker.LostUpdate}, {finding: checker.StaleWrite}, {finding: checker.StaleWrite}}, 5},
		{"the library", false, []outcome{same, same, same, same, same}, 5},
	} {
		speeds, made := slowing(5), 0
		_, err := untilUndisturbed(speeds[:], c.foreign, func(*scenarios.Result, time.Duration) {}, func(int) (*scenarios.Result, time.Duration, error) {
			run := c.runs[made]
			made++
			r := &scenarios.Result{Scenario: &scenarios.Scenario{}, Problems: []scenarios.Problem{{Class: scenarios.Safety, Text: "another"}}}
			if run.finding != "" {
				r.Findings = scenarios.Findings{run.finding}
			}
			if run.notTested != "" {
				r.NotTested = []string{run.notTested}
			}
			return r, time.Second, nil
		})
		if err != nil || made != c.count {
			t.Errorf("%s: %d runs, want %d; %v", c.name, made, c.count, err)
		}
	}
}

// A run in which nobody is ever granted the lock of a program counts if that lasted for far longer than the machine stalled.
func TestNobodyIsEverGranted(t *testing.T) {
	for _, c := range []struct {
		name    string
		longer  time.Duration // in the scenario's time
		grants  int
		stalled time.Duration
		count   int
	}{
		{"a program that hangs", 40 * time.Second, 0, 500 * time.Millisecond, 1},
		{"a stall as long as the run", 40 * time.Second, 0, 10 * time.Second, 3},
		{"one that is granted the lock", 40 * time.Second, 1, 500 * time.Millisecond, 3},
	} {
		speeds, made := slowing(5), 0
		_, err := untilUndisturbed(speeds[:], true, func(*scenarios.Result, time.Duration) {}, func(int) (*scenarios.Result, time.Duration, error) {
			made++
			r := &scenarios.Result{Scenario: &scenarios.Scenario{}, Problems: []scenarios.Problem{{Class: scenarios.Liveness, Text: "unavailable"}}, Longer: c.longer}
			r.Report.Grants = c.grants
			return r, c.stalled, nil
		})
		if err != nil || made != c.count {
			t.Errorf("%s: %d runs, want %d; %v", c.name, made, c.count, err)
		}
	}
}
