package engine

import (
	"context"

	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/search/random"
)

// Worse is what a short search around the settings of a file found.
type Worse struct {
	Runs int `json:"runs"`
	// Text is a scenario that breaks the lock, shrunk; empty if none was found.
	Text string `json:"text"`
	// Seed is that of the run in which it breaks it.
	Seed uint64 `json:"seed"`
	// Beyond says that its faults are more than the file's budget allows.
	Beyond bool `json:"beyond"`
}

// worse searches for a schedule of faults that breaks the lock with the file's settings: within its budget first.
func worse(ctx context.Context, q *Request) (any, error) {
	s, _, _, err := read(q)
	if err != nil {
		return nil, err
	}
	space := experiment.NewSpace(s.Settings())
	space.Beyond = true
	summary, err := random.Explore(ctx, space, random.Options{Seed: q.Seed, Runs: q.Runs, Generation: q.Runs, Jobs: 1})
	if err != nil {
		return nil, err
	}
	x := &Worse{Runs: summary.Runs}
	var found *search.Finding
	for i := range summary.Findings {
		f := &summary.Findings[i]
		if f.Scenario != nil && (found == nil || found.Beyond && !f.Beyond) {
			found = f
		}
	}
	if found == nil {
		return x, nil
	}
	text, err := found.Scenario.Encode()
	x.Text, x.Seed, x.Beyond = string(text), found.Scenario.Recorded.Seed, found.Beyond
	return x, err
}
