package scenarios

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestFalseAlarms runs what searches once found on the unbroken library and was a defect of an oracle, or of a tier: nothing is
// found any more, or what is found is excused by faults beyond the budget, and the tiers show the same.
func TestFalseAlarms(t *testing.T) {
	files, err := filepath.Glob("testdata/alarms/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%v: %q", err, files)
	}
	for _, file := range files {
		found, err := Load(file)
		if err != nil {
			t.Fatal(err)
		}
		var hashes []string
		for _, tier := range Tiers() {
			r := Judged(t, found[0], Options{Tier: tier, Seed: found[0].Recorded.Seed})
			if slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Class != NotTested }) {
				t.Errorf("%s, tier %s: %v: %v", file, tier, r.Findings, r.Problems)
			}
			hashes = append(hashes, r.HistoryHash)
		}
		if hashes[0] != hashes[1] {
			t.Errorf("%s: the histories of the tiers are not the same", file)
		}
	}
}
