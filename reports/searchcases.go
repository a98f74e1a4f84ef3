package reports

import (
	"fmt"
	"path/filepath"
	"strings"

	"redlocksim/checker"
	"redlocksim/internal/shell"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
)

// SearchCases are the findings of a search as cases, each with its story, and its runs that failed, or one case that says that
// there are none. The
// error is that of a file that cannot be read, or an internal one.
func SearchCases(s *Searched) ([]Case, error) {
	var cases []Case
	for i := range s.Failures.Failures {
		f := &s.Failures.Failures[i]
		c := Case{Name: "a run that failed", Title: "a run that failed", Tier: string(f.Tier), Seed: f.Seed, Expected: scenarios.Safe,
			Verdict: Failed, Class: Failed, Problems: []string{f.Line()}, Repeat: f.Repeat(s.Dir, s.With), Story: f.Text,
			Hoped: string(checker.Holds), Says: Failed, Word: Failed}
		if f.File != "" {
			c.File, c.Line = filepath.ToSlash(filepath.Join(s.Dir, f.File)), 1
		}
		cases = append(cases, c)
	}
	if len(s.Findings) == 0 && cases == nil {
		c := Case{Tier: string(scenarios.Model), Seed: s.Seed, Expected: scenarios.Safe, Verdict: scenarios.Safe, OK: s.Runs > 0, Took: s.Took,
			Hoped: string(checker.Holds), Says: string(checker.Holds), Word: string(checker.Holds)}
		c.Name = fmt.Sprintf("no violation in %d runs", s.Runs)
		if !c.OK {
			c.Name, c.Verdict, c.Class = "nothing was run", string(checker.NotTested), verdict.NothingTested
			c.Says, c.Word = verdict.NothingTested, verdict.NothingTested
			c.Problems, c.Repeat = []string{"not tested: nothing was run"}, "the search"
		}
		c.Title = c.Name
		return []Case{c}, nil
	}
	for i := range s.Findings {
		f := &s.Findings[i]
		found := f.Scenario
		path := filepath.Join(s.Dir, f.File)
		if found == nil { // of a search that was resumed
			all, err := scenarios.Load(path)
			if err != nil {
				return nil, err
			}
			found = all[0]
		}
		o := scenarios.Options{Seed: f.Seed, Foreign: s.Foreign}
		r, err := verdict.Judge(found, o)
		if err == nil {
			err = verdict.Again(found, o, r.Outcome)
		}
		if err != nil {
			return nil, err
		}
		c := Case{Name: found.Name, Title: found.Title, Tier: string(r.Tier), Seed: f.Seed, Expected: scenarios.Safe,
			Verdict: string(f.Kind), Class: "safety", Problems: []string{finding(f)},
			Hoped: string(checker.Holds), Says: f.Kind.Says(), Word: r.InOne(), Ending: r.Ending()}
		if f.File != "" {
			c.File, c.Line = filepath.ToSlash(path), 1
			c.Repeat = "redlocksim run " + shell.Quote(path) + s.With
		}
		var b strings.Builder
		if err := Run(&b, r, c.Repeat, false); err != nil {
			return nil, err
		}
		c.Story = b.String()
		cases = append(cases, c)
	}
	cases[0].Took = s.Took
	return cases, nil
}
