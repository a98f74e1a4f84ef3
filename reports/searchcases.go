package reports

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"redlocksim/internal/shell"
	"redlocksim/scenarios"
	"redlocksim/search/random"
)

// SearchCases are the findings of a search as cases, each with its story, or one case that says that there are none. dir is
// where the files of the findings are, seed that of the search, and took how long it was. The error is that of a file that
// cannot be read, or an internal one.
func SearchCases(s *random.Summary, dir string, seed uint64, took time.Duration) ([]Case, error) {
	if len(s.Findings) == 0 {
		name := fmt.Sprintf("no violation in %d runs", s.Runs)
		return []Case{{Name: name, Title: name, Tier: string(scenarios.Model), Seed: seed, Expected: scenarios.Safe, Verdict: scenarios.Safe, OK: true, Took: took}}, nil
	}
	var cases []Case
	for i := range s.Findings {
		f := &s.Findings[i]
		found := f.Scenario
		path := filepath.Join(dir, f.File)
		if found == nil { // of a search that was resumed
			all, err := scenarios.Load(path)
			if err != nil {
				return nil, err
			}
			found = all[0]
		}
		r, err := scenarios.Judge(found, scenarios.Options{Seed: f.Seed})
		if err != nil {
			return nil, err
		}
		c := Case{Name: found.Name, Title: found.Title, Tier: string(r.Tier), Seed: f.Seed, Expected: scenarios.Safe,
			Verdict: string(f.Kind), Class: "safety", Problems: []string{finding(f)}}
		if f.File != "" {
			c.File, c.Line = filepath.ToSlash(path), 1
			c.Repeat = "redlocksim run " + shell.Quote(path)
		}
		var b strings.Builder
		if err := Run(&b, r, c.Repeat, false); err != nil {
			return nil, err
		}
		c.Story = b.String()
		cases = append(cases, c)
	}
	cases[0].Took = took
	return cases, nil
}
