package locktable_test

import (
	"regexp"
	"strings"
	"testing"

	"redlocksim/reports/locktable"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
)

// The headings name the tier of a lock that ran on both, and of no other.
func TestHeadings(t *testing.T) {
	column := func(name, settings string, on scenarios.Tier) locktable.Lock {
		return locktable.Lock{Name: name, Settings: settings, Tier: on, Source: "s", Cells: []locktable.Cell{
			{Case: "09-contention", Repeat: "repeat", Tier: on, Grade: []verdict.Grade{verdict.Weaker}, Why: []locktable.Why{{Cause: "c"}}}}}
	}
	table := locktable.Table{Locks: []locktable.Lock{column("one", "defaults", scenarios.Program), column("one", "defaults", scenarios.Live),
		column("one", "fast", scenarios.Program), column("two", "defaults", scenarios.Live)}}
	want := []string{"one, simulator", "one, live", "one, fast", "two"}
	var markdown strings.Builder
	if err := locktable.Markdown(&markdown, &table); err != nil {
		t.Fatal(err)
	}
	_, chapters, _ := strings.Cut(markdown.String(), "## Where they differ")
	for where, got := range map[string][][]string{
		"the list":     regexp.MustCompile(`(?m)^\| \[(.+)\]\(s\)`).FindAllStringSubmatch(markdown.String(), -1),
		"the chapters": regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(chapters, -1),
	} {
		var headings []string
		for _, m := range got {
			headings = append(headings, m[1])
		}
		if strings.Join(headings, "|") != strings.Join(want, "|") {
			t.Errorf("%s has %q, want %q", where, headings, want)
		}
	}
	if header := "| case | " + strings.Join(want, " | ") + " |\n"; !strings.Contains(markdown.String(), header) {
		t.Errorf("no line %q in\n%s", header, markdown.String())
	}
}

// What is not the library's is said of that lock, and of no other.
func TestWhatTheAdapterAdds(t *testing.T) {
	table := locktable.Table{Locks: []locktable.Lock{{Name: "one", Adapter: "the release."}, {Name: "two"}}}
	var markdown strings.Builder
	if err := locktable.Markdown(&markdown, &table); err != nil {
		t.Fatal(err)
	}
	if page := markdown.String(); strings.Count(page, "Added by the adapter: ") != 1 || !strings.Contains(page, "Added by the adapter: the release.") {
		t.Errorf("it is not said once in\n%s", page)
	}
}
