package shrink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"redlocksim/checker"
	"redlocksim/scenarios"
)

// DefaultRuns is how many runs a search for a smaller scenario makes at the most.
const DefaultRuns = 5000

// Options bound the work. The zero value is for DefaultRuns.
type Options struct {
	// Runs bounds how often broken is called; zero is DefaultRuns.
	Runs int
}

// Stats are what the work was.
type Stats struct {
	// Runs is how often broken was called.
	Runs int
	// Rounds is how many times all passes were gone through; the last round changed nothing, if Exhausted is not set.
	Rounds int
	// Taken is how often each pass made the scenario simpler, in the order of the passes.
	Taken []Taken
	// Exhausted says that the runs did not suffice: the scenario may not be a minimum.
	Exhausted bool
}

// Taken is how often a pass made the scenario simpler.
type Taken struct {
	Pass  string
	Times int
}

// ErrNotBroken is the error of Shrink for a scenario that does not show what is to be kept.
var ErrNotBroken = errors.New("shrink: the scenario is not broken to begin with")

// Shrink takes a scenario for which broken is true, and returns a simpler one for which it still is: a local minimum, in
// which no pass finds anything to take out or to make simpler. The same scenario always gives the same, and a minimum gives
// itself. broken must be a pure function of the scenario; it is only asked about scenarios that a file can hold.
//
// What is asked about stays as it is: the protocol, its preset and the budget. The scenario's texts, its claim and what it
// expects are not looked at, but for clients that are taken out of the latter.
//
// The error matches ErrNotBroken if there is nothing to keep, is that of the context if it ended, or is what broken
// returned. In the last two cases the simplest scenario so far is returned too.
func Shrink(ctx context.Context, s *scenarios.Scenario, broken func(*scenarios.Scenario) (bool, error), o Options) (*scenarios.Scenario, Stats, error) {
	if o.Runs <= 0 {
		o.Runs = DefaultRuns
	}
	x := &search{ctx: ctx, broken: broken, limit: o.Runs, name: s.Name, known: map[string]bool{}}
	var err error
	if x.data, err = s.Encode(); err == nil {
		x.now, err = x.parse(x.data)
	}
	if err != nil {
		return nil, x.stats, fmt.Errorf("shrink: not a scenario that a file can hold: %w", err)
	}
	x.weight = weigh(x.now, x.data)
	if !x.shows(&x.candidate) {
		if x.stopped == nil {
			x.stopped = ErrNotBroken
		}
		return nil, x.stats, x.stopped
	}
	for _, p := range passes {
		x.stats.Taken = append(x.stats.Taken, Taken{Pass: p.name})
	}
	for changed := true; changed && x.stopped == nil; {
		x.stats.Rounds++
		before := x.data
		for i, p := range passes {
			x.taken = &x.stats.Taken[i].Times
			p.run(x)
		}
		changed = !bytes.Equal(before, x.data)
	}
	if errors.Is(x.stopped, errExhausted) {
		x.stats.Exhausted, x.stopped = true, nil
	}
	return x.now, x.stats, x.stopped
}

// SameClass is for Shrink: it says whether a run of a scenario still has a finding of the kind, and is tested.
func SameClass(kind checker.Kind, o scenarios.Options) func(*scenarios.Scenario) (bool, error) {
	return func(s *scenarios.Scenario) (bool, error) {
		r, err := scenarios.Judge(s, o)
		if err != nil {
			return false, err
		}
		return slices.Contains(r.Findings, kind) && r.Report.NotTested() == "", nil
	}
}
