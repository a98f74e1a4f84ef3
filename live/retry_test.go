//go:build linux

package live

import (
	"slices"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/storage"
)

// A run that is not as expected counts unless the machine held it up, and in any case if no delay excuses what it shows. Two
// runs of somebody's lock with the same outcome count if the second is as slow as they get, and so does one in which nobody is
// ever granted it for far longer than the machine stalled; the library's own are retried to the end.
func TestUntilUndisturbed(t *testing.T) {
	type run struct {
		findings  []checker.Kind // expected are those of a late write
		heldUp    time.Duration
		notTested string
	}
	late, none := []checker.Kind{checker.StaleWrite}, []checker.Kind{}
	const much = time.Second
	other, same := run{none, much, ""}, run{late, much, "it never came to that"}
	for _, test := range []struct {
		name    string
		runs    []run
		count   int // how many are made
		kind    storage.Kind
		foreign bool
		longer  time.Duration // for which the lock was unavailable, and nobody was granted it
		verdict verdict.Class
	}{
		{name: "as expected, and held up", runs: []run{{late, much, ""}}, count: 1},
		{name: "another finding", runs: []run{{none, 0, ""}}, count: 1, verdict: verdict.Safety},
		{name: "another finding, and held up", runs: []run{other, {late, 0, ""}}, count: 2},
		{name: "held up, then another finding", runs: []run{other, {none, 0, ""}}, count: 2, verdict: verdict.Safety},
		{name: "always held up", runs: []run{other, other, other, other, other}, count: 5, verdict: verdict.NotTested},
		{name: "two holders, and held up", runs: []run{{[]checker.Kind{checker.LeaseOverlap}, much, ""}}, count: 1, verdict: verdict.Safety},
		{name: "tokens out of order", runs: []run{{[]checker.Kind{checker.TokenRegressed}, much, ""}}, count: 1, verdict: verdict.Safety},
		{name: "a fence that lets all pass", runs: []run{{late, much, "x"}}, count: 1, kind: storage.Fenced, verdict: verdict.Safety},
		{name: "one that lets writes pass", runs: []run{{late, much, "x"}}, count: 1, kind: storage.FencedWrites, verdict: verdict.Safety},
		{name: "a lock, the same", runs: []run{same, same, same}, count: 3, foreign: true, verdict: verdict.Safety},
		{name: "a lock, another reason", runs: []run{same, same, {late, much, "nobody asked"}, {late, much, "nobody asked"}}, count: 4,
			foreign: true, verdict: verdict.Safety},
		{name: "the library, the same", runs: []run{same, same, same, same, same}, count: 5, verdict: verdict.NotTested},
		{name: "a lock that hangs", runs: []run{{none, much / 2, ""}}, count: 1, foreign: true, longer: 40 * much, verdict: verdict.Safety},
		{name: "a stall as long", runs: []run{{none, 10 * much, ""}, {none, 10 * much, ""}, {none, 10 * much, ""}}, count: 3, foreign: true,
			longer: 40 * much, verdict: verdict.Safety},
	} {
		speeds := slowing(5)
		var made []int
		told := 0
		r, err := untilUndisturbed(speeds[:], test.foreign, func(*verdict.Result, time.Duration) { told++ }, func(speed int) (*verdict.Result, time.Duration, error) {
			run := test.runs[len(made)]
			made = append(made, speed)
			r := &verdict.Result{Scenario: &scenarios.Scenario{Storage: test.kind}, Findings: run.findings, Longer: test.longer}
			if r.Report.Grants = 1; test.longer > 0 {
				r.Report.Grants = 0
			}
			if test.kind == storage.Register {
				r.Scenario.Expect.Findings = late
			}
			if run.notTested != "" {
				r.NotTested = []string{run.notTested}
			}
			if !slices.Equal(run.findings, late) || run.notTested != "" {
				r.Problems = []verdict.Problem{{Class: verdict.Safety, Text: "another"}}
			}
			return r, run.heldUp, nil
		})
		if err != nil || !slices.Equal(made, []int{5, 3, 1, 1, 1}[:test.count]) || told != test.count-1 {
			t.Errorf("%s: runs at speeds %v, %v, and told of %d; want %d", test.name, made, err, told, test.count)
		}
		for _, class := range []verdict.Class{verdict.Safety, verdict.NotTested} {
			if r.Has(class) != (class == test.verdict) {
				t.Errorf("%s: problems %v, want %v", test.name, r.Problems, test.verdict)
			}
		}
	}
}
