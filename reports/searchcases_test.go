package reports_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/reports"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/random"
)

// A finding is a case that failed, whether the search has its scenario still or has it in a file, and no finding is one that
// passed.
func TestSearchCases(t *testing.T) {
	none, err := reports.SearchCases(&reports.Searched{Summary: &random.Summary{Runs: 40}, Dir: "", Seed: 3, Took: time.Second})
	if err != nil || len(none) != 1 || !none[0].OK || none[0].Name != "no violation in 40 runs" || none[0].Took != time.Second {
		t.Errorf("%+v, %v", none, err)
	}

	nothing, err := reports.SearchCases(&reports.Searched{Summary: &random.Summary{}})
	if err != nil || len(nothing) != 1 || nothing[0].OK || nothing[0].Name != "nothing was run" || len(nothing[0].Problems) != 1 {
		t.Errorf("%+v, %v", nothing, err)
	}

	dir := filepath.Join(t.TempDir(), "two words")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	repeat := "redlocksim run '" + filepath.Join(dir, "found.yaml") + "'" // to be pasted
	s, _ := scenarios.Find("17-clock-jump")
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "found.yaml"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	found := search.Finding{Kind: checker.LeaseOverlap, Families: []string{"clock-step"}, Faults: 1, Seed: 0, File: "found.yaml"}
	kept := found
	kept.Scenario = s
	cases, err := reports.SearchCases(&reports.Searched{Summary: &random.Summary{Runs: 40, Findings: []search.Finding{kept, found}}, Dir: dir, Seed: 3, Took: time.Second})
	if err != nil || len(cases) != 2 {
		t.Fatalf("%+v, %v", cases, err)
	}
	for i, name := range []string{"17-clock-jump", "found"} {
		c := cases[i]
		if c.OK || c.Name != name || !strings.HasPrefix(c.Problems[0], "two holders (lease-overlap) by clock-step, WITHIN the budget") ||
			!strings.Contains(c.Story, "the wall clock of C jumps forward by 10s") || c.Repeat != repeat {
			t.Errorf("%+v", c)
		}
	}
	var searched strings.Builder
	if err := reports.Search(&searched, &reports.Searched{Summary: &random.Summary{Findings: []search.Finding{found}}, Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(searched.String(), repeat) {
		t.Errorf("no %s in\n%s", repeat, &searched)
	}
	if err := os.Remove(filepath.Join(dir, "found.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := reports.SearchCases(&reports.Searched{Summary: &random.Summary{Findings: []search.Finding{found}}, Dir: dir, Seed: 3, Took: 0}); err == nil {
		t.Error("a finding whose file is gone is passed over")
	}
}

// A finding tells how much smaller it has become, in lines that fit a terminal; a command to paste is never broken.
func TestShrunkFrom(t *testing.T) {
	families := []string{"clock-step", "partition", "restart-empty", "slow-messages", "power-loss"}
	found := []search.Finding{{Kind: checker.LeaseOverlap, Times: 3, Run: 17, Faults: 5, Families: families, Beyond: true, Events: 17, EventsBefore: 120, File: "found.yaml"},
		{Kind: checker.LeaseOverlap, Times: 1, Events: 1, EventsBefore: 1}}
	dir := "a-directory-whose-name-is-longer-than-any-terminal-that-anybody-has-in-front-of-them-today"
	var searched strings.Builder
	if err := reports.Search(&searched, &reports.Searched{Summary: &random.Summary{Findings: found}, Dir: dir}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`
  1  two holders (lease-overlap) by 5 faults: clock-step, partition,
     restart-empty, slow-messages, power-loss, beyond the budget (first in run
     17, 3 runs in all)
     shrunk from 120 events to 17
     redlocksim run ` + dir + `/found.yaml
`, "\n     shrunk from 1 event to 1\n"} {
		if !strings.Contains(searched.String(), want) {
			t.Errorf("no %s in\n%s", want, &searched)
		}
	}
	for line := range strings.Lines(searched.String()) {
		if line = strings.TrimSuffix(line, "\n"); len(line) > 80 && !strings.Contains(line, dir) {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

// A finding tells whether its faults kept to the budget, exceed it, or exceed it and are no excuse.
func TestFindingsAndTheBudget(t *testing.T) {
	for _, c := range []struct {
		beyond, despite bool
		want            string
	}{
		{false, false, ", WITHIN the budget ("},
		{true, false, ", beyond the budget ("},
		{false, true, ", beyond the budget, which is NO EXCUSE for it ("},
	} {
		found := []search.Finding{{Kind: checker.Conduct, Times: 1, Beyond: c.beyond, Despite: c.despite}}
		var searched strings.Builder
		if err := reports.Search(&searched, &reports.Searched{Summary: &random.Summary{Findings: found}}); err != nil {
			t.Fatal(err)
		}
		if flat := strings.Join(strings.Fields(searched.String()), " "); !strings.Contains(flat, c.want) {
			t.Errorf("beyond %v, despite %v:\n%s", c.beyond, c.despite, &searched)
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
