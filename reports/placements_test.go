package reports_test

import (
	"strings"
	"testing"

	"redlocksim/reports"
	"redlocksim/search/systematic"
)

// Violations that there was no time to shrink are findings too.
func TestPlacementsNotShrunk(t *testing.T) {
	for unshrunk, want := range map[int]string{0: "findings   none\n", 1: "not shrunk 1 kind of violation more\n"} {
		var b strings.Builder
		if err := reports.Placements(&b, &systematic.Summary{Unshrunk: unshrunk}, "", 0); err != nil || !strings.HasSuffix(b.String(), want) {
			t.Errorf("%v, %s", err, &b)
		}
	}
}
