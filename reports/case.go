package reports

import (
	"strings"
	"time"

	"redlocksim/scenarios"
)

// Case is a run as reports for continuous integration have it: of a scenario, or what a search found.
type Case struct {
	// Name is the scenario's, Title its line.
	Name, Title string
	Tier        string
	Seed        uint64
	// Expected and Verdict are in words.
	Expected, Verdict string
	// Problems are in which it was not as expected; nil if it was. Class is what they concern: safety, liveness or, if
	// nothing else, that it was not tested.
	Problems []string
	Class    string
	// Skipped is why it was not run; empty if it was.
	Skipped string
	// Story tells what happened, in lines; may be empty.
	Story string
	// Repeat is the command that repeats it.
	Repeat string
	// Took is how long it took on this machine.
	Took time.Duration
	// File is where the scenario is written; empty if that is not in a file of the user's. Line counts from 1; 0 is unknown.
	File string
	Line int
}

// OK says that it was run and as expected.
func (c *Case) OK() bool { return len(c.Problems) == 0 && c.Skipped == "" }

// NewCase makes the case of a run; repeat is the command that repeats it. The story is told if the run was not as expected.
func NewCase(r *scenarios.Result, repeat string, took time.Duration) (Case, error) {
	c := Case{Name: r.Scenario.Name, Title: r.Scenario.Title, Tier: string(r.Tier), Seed: r.Seed,
		Expected: r.Scenario.Expect.String(), Verdict: r.Verdict(), Repeat: repeat, Took: took}
	for _, p := range r.Problems {
		c.Problems = append(c.Problems, p.Text)
	}
	if r.OK() {
		return c, nil
	}
	switch {
	case r.Has(scenarios.Safety):
		c.Class = "safety"
	case r.Has(scenarios.Liveness):
		c.Class = "liveness"
	default:
		c.Class = scenarios.NothingTested
	}
	var b strings.Builder
	err := Run(&b, r, repeat, false)
	c.Story = b.String()
	return c, err
}

// tally is how many cases were run, and how many of them were not as expected.
func tally(cases []Case) (ran, bad, skipped int) {
	for i := range cases {
		switch {
		case cases[i].Skipped != "":
			skipped++
		case !cases[i].OK():
			bad++
			ran++
		default:
			ran++
		}
	}
	return ran, bad, skipped
}
