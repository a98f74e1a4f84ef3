package reports_test

import (
	"strings"
	"testing"

	"redlocksim/reports"
	"redlocksim/search/random"
	"redlocksim/search/systematic"
)

// Violations that were not shrunk are findings too.
func TestPlacementsNotShrunk(t *testing.T) {
	for unshrunk, want := range map[int]string{0: "findings   none\n", 1: "not shrunk 1 kind of violation more\n"} {
		var b strings.Builder
		if err := reports.Placements(&b, &systematic.Summary{Unshrunk: unshrunk}, "", 0); err != nil || !strings.HasSuffix(b.String(), want) {
			t.Errorf("%v, %s", err, &b)
		}
	}
}

// A search says why it has not shrunk some: it has no limit of time for that.
func TestSearchNotShrunk(t *testing.T) {
	for unshrunk, want := range map[int]bool{0: false, 2: true} {
		var b strings.Builder
		err := reports.Search(&b, &reports.Searched{Summary: &random.Summary{Runs: 1, Violations: 2, Unshrunk: unshrunk}})
		if got := strings.Contains(b.String(), "not shrunk 2 violations: too many waited for it, or a run on the way failed\n"); err != nil || got != want {
			t.Errorf("%v, %s", err, &b)
		}
	}
}
