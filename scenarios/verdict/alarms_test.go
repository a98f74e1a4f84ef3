package verdict_test

import (
	"path/filepath"
	"slices"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
)

// TestFalseAlarms runs what searches once found on the unbroken library and was a defect of an oracle, or of a tier: nothing is
// found any more, or what is found is excused by faults beyond the budget, and the tiers show the same.
func TestFalseAlarms(t *testing.T) {
	files, err := filepath.Glob("../testdata/alarms/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%v: %q", err, files)
	}
	for _, file := range files {
		found, err := scenarios.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		var hashes []string
		for _, tier := range scenarios.Tiers() {
			r := scenariotest.Judged(t, found[0], scenarios.Options{Tier: tier, Seed: found[0].Recorded.Seed})
			if slices.ContainsFunc(r.Problems, func(p verdict.Problem) bool { return p.Class != verdict.NotTested }) {
				t.Errorf("%s, tier %s: %v: %v", file, tier, r.Findings, r.Problems)
			}
			hashes = append(hashes, r.HistoryHash)
		}
		if hashes[0] != hashes[1] {
			t.Errorf("%s: the histories of the tiers are not the same", file)
		}
	}
}
