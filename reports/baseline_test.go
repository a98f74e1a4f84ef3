package reports_test

import (
	"strings"
	"testing"

	"redlocksim/reports"
	"redlocksim/scenarios/verdict"
)

// What a lock's known failures hide: one more of a known kind, another cause in the same case, and what is not tested any more.
func TestCompareWithABaseline(t *testing.T) {
	overlap, contract := verdict.Cause{Grade: verdict.Weaker, Cause: "lease-overlap"}, verdict.Cause{Grade: verdict.Weaker, Cause: "contract"}
	waits := verdict.Cause{Grade: verdict.LessAvailable, Cause: "unavailable"}
	run := func(name string, causes ...verdict.Cause) reports.Case {
		c := reports.Case{Name: name, Grades: []verdict.Grade{verdict.AsSound}, OK: causes == nil, Causes: causes}
		if causes != nil {
			c.Grades, c.Problems = []verdict.Grade{causes[0].Grade}, []string{"found"}
		}
		return c
	}
	skipped := func(name string) reports.Case { return reports.Case{Name: name, Skipped: name + " does not apply"} }
	untested := func(name string) reports.Case {
		return reports.Case{Name: name, Grades: []verdict.Grade{verdict.NotApplicable}, Problems: []string{"not tested: nobody asked"}}
	}
	const all = "compared with base.json: "
	for name, c := range map[string]struct {
		before, now []reports.Case
		want        string
		known       string // the names of the cases that still count as not as expected
	}{
		"as before":               {[]reports.Case{run("a"), run("b", overlap)}, []reports.Case{run("a"), run("b", overlap)}, all + "2 runs with nothing new", ""},
		"one more of a kind":      {[]reports.Case{run("a"), run("b", overlap)}, []reports.Case{run("a", overlap), run("b", overlap)}, all + "1 run with nothing new; worse: a: weaker, two holders (lease-overlap)", "a"},
		"another cause":           {[]reports.Case{run("a", overlap)}, []reports.Case{run("a", overlap, contract)}, all + "0 runs with nothing new; worse: a: weaker, breaks a promise (contract)", "a"},
		"better":                  {[]reports.Case{run("a", overlap, waits)}, []reports.Case{run("a", waits)}, all + "1 run with nothing new; no longer: a: weaker, two holders (lease-overlap)", ""},
		"a new case":              {[]reports.Case{}, []reports.Case{run("a", waits), run("b")}, all + "0 runs with nothing new; worse: a: less available, unavailable; not in the baseline: a; not in the baseline: b", "a"},
		"a case that has gone":    {[]reports.Case{run("a", overlap), run("b")}, []reports.Case{run("b")}, all + "1 run with nothing new; not tested any more: a: there is no such case any more", ""},
		"one of another shard":    {[]reports.Case{run("elsewhere")}, []reports.Case{run("b")}, all + "0 runs with nothing new; not in the baseline: b", ""},
		"does not apply any more": {[]reports.Case{run("a")}, []reports.Case{skipped("a")}, all + "0 runs with nothing new; not tested any more: a does not apply", ""},
		"never applied":           {[]reports.Case{untested("a")}, []reports.Case{untested("a")}, all + "1 run with nothing new", "a"},
		"not tested now":          {[]reports.Case{run("a", overlap)}, []reports.Case{untested("a")}, all + "1 run with nothing new; not tested any more: a: not tested: nobody asked", "a"},
	} {
		x := reports.Compare(&reports.Document{Scenarios: c.before}, c.now, func(name string) bool { return name != "elsewhere" })
		var b strings.Builder
		if err := x.Write(&b, "base.json", reports.Look{}); err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(strings.TrimSpace(b.String()), "\n  ", "; "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		known := ""
		for _, k := range x.Known(c.now) {
			if len(k.Problems) > 0 {
				known += k.Name
			}
		}
		if known != c.known {
			t.Errorf("%s: %q still count, want %q", name, known, c.known)
		}
	}
}
