// Package shrink makes what a search found small: it takes out of an experiment whatever the violation does not need, until
// nothing more can be taken out, and says in what is left what it shows. Start at [Violation].
//
// An experiment is shrunk as the file that it is: parts are left out ([leaveOut]), and what is a quantity becomes smaller
// ([quantities]), whatever it is of. A few passes know more: what names a process, a resource, an order. To add a way to make
// experiments smaller: a pass, and its place in passes.
package shrink

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/search"
	"redlocksim/search/settings"
	"redlocksim/sim/history"
)

// Finding shrinks a violation and makes a finding of it. It is not done, and there is no error, if ctx ended before; any
// other error is that of [Violation].
func Finding(ctx context.Context, v search.Violation, runs int) (f search.Finding, done bool, err error) {
	example, before, err := violation(ctx, v, runs)
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return search.Finding{}, false, nil
	case err != nil:
		return search.Finding{}, false, err
	}
	r, err := verdict.Judge(example, scenarios.Options{Seed: v.Seed, Foreign: v.Foreign, Unhashed: true})
	if err != nil {
		return search.Finding{}, false, err
	}
	f = search.NewFinding(&v, r)
	f.EventsBefore = search.Events(before)
	return f, true, nil
}

// Violation gives the smallest experiment that still has a violation, with the same lock, persistence and storage, as a
// counterexample: it says what it shows, and is verified on all tiers. One with a lock of the caller's is neither; one with a
// program says what the library shows. It takes about that many runs at the most. The violation and its scenario stay as they
// are.
//
// The error is that of the context if it ended. Any other is internal, or says that the run does not show the violation, or
// not on all tiers.
func Violation(ctx context.Context, v search.Violation, runs int) (*scenarios.Scenario, error) {
	example, _, err := violation(ctx, v, runs)
	return example, err
}

// violation is Violation, with the history of the run in which it was found.
func violation(ctx context.Context, v search.Violation, runs int) (*scenarios.Scenario, history.History, error) {
	before, err := v.WithoutIdle()
	if err != nil {
		return nil, nil, err
	}
	shows, err := v.Same()
	if err != nil {
		return nil, nil, err
	}
	if v.Failed != nil {
		shows = tolerant(v.Failed, shows)
	}
	if v.Scenario, _, err = minimize(ctx, v.Scenario, v.Base, shows, runs); err != nil {
		return nil, nil, err
	}
	// What is left may end too early for some of it, if the runs did not suffice.
	example := v.Scenario
	switch _, err = v.WithoutIdle(); {
	case err != nil:
	case v.Foreign == nil:
		example, err = counterexample(v.Scenario, v.Seed)
	case v.Foreign.IsProgram:
		example, err = compared(&v)
	default:
		example = v.Scenario
	}
	return example, before, err
}

// tolerant has a run that fails be none, and tells of it. One that takes too long is nothing to tell of.
func tolerant(failed func(error), shows search.Question) search.Question {
	return func(s *scenarios.Scenario) (h history.History, err error) {
		err = search.Safely(func() (err error) {
			h, err = shows(s)
			return err
		})
		if err != nil && !errors.Is(err, scenarios.ErrTooLong) {
			failed(err)
			err = nil
		}
		return h, err
	}
}

// Difference gives the smallest experiment, of the same protocol, whose runs on tiers model and wire still differ, as a
// scenario file that expects what tier model shows. same makes the run of tier model on tier wire too, and is as
// [verdict.Result.SameOn]. It takes about that many runs on each tier at the most. The error is that of the context if it
// ended, or an internal one, also where the run of tier model tests nothing.
func Difference(ctx context.Context, s *scenarios.Scenario, seed uint64, same func(*verdict.Result) error, runs int) (*scenarios.Scenario, error) {
	whole := search.Violation{Scenario: s, Seed: seed}
	if _, err := whole.WithoutIdle(); err != nil {
		return nil, err
	}
	var err error
	whole.Scenario, _, err = minimize(ctx, whole.Scenario, nil, func(s *scenarios.Scenario) (history.History, error) {
		r, err := verdict.Judge(s, scenarios.Options{Seed: seed})
		if err != nil || len(r.NotTested) > 0 {
			return nil, err // the file would have another problem
		}
		if err = same(r); errors.Is(err, verdict.ErrTiersDiffer) {
			return r.History, nil
		}
		return nil, err
	}, runs)
	if err != nil {
		return nil, err
	}
	if _, err := whole.WithoutIdle(); err != nil {
		return nil, err
	}
	c, _, err := told(whole.Scenario, seed)
	if err != nil {
		return nil, err
	}
	c.Title = "not the same on tiers model and wire"
	c.Explanation = fmt.Sprintf("What is expected here is what tier %s shows. Tier %s, where the adapter and its scripts run, shows something else.\n", scenarios.Model, scenarios.Wire)
	return c, nil
}

// errNotBroken is the error of minimize for a scenario that does not show what is to be kept.
var errNotBroken = errors.New("shrink: the scenario is not broken to begin with")

// passes are the ways to make a scenario simpler, in their order: the structure from the largest parts to the smallest, then
// the quantities, then order and names. What is large is taken out first, since it makes all further runs cheaper.
var passes = []func(*shrinker){length, observed, drawn, leaveOut, plainer, processes, resources, quantities, shifts, equal, latency, order, names}

// minimize takes a scenario that shows something, and returns a simpler one that still does: a local minimum, in which no pass
// finds anything to take out or to make simpler. The same scenario always gives the same, and a minimum gives itself. shows
// must be a pure function of the scenario; it is only asked about scenarios that a file can hold, and at most so many times.
// base, if not nil, is the settings around which those of the scenario were drawn.
//
// What is asked about stays as it is: the protocol, its preset and the budget. The scenario's texts, its claim and what it
// expects are not looked at, but for clients that are taken out of the latter.
//
// The error matches errNotBroken if there is nothing to keep, is that of the context if it ended, or is what shows
// returned. In the last two cases the simplest scenario so far is returned too, as where the runs did not suffice. The number
// is how many were made.
func minimize(ctx context.Context, s, base *scenarios.Scenario, shows search.Question, runs int) (*scenarios.Scenario, int, error) {
	x := &shrinker{ctx: ctx, question: shows, limit: runs, name: s.Name, base: base, refused: map[string]bool{}}
	var first *candidate
	data, err := s.Encode()
	if err == nil {
		first, err = x.parsed(data)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("shrink: not a scenario that a file can hold: %w", err)
	}
	if !x.shows(first) {
		if x.stopped == nil {
			x.stopped = errNotBroken
		}
		return nil, x.runs, x.stopped
	}
	x.candidate = *first
	for changed := true; changed && x.stopped == nil; {
		before := x.file
		for _, pass := range passes {
			if x.stopped == nil {
				pass(x)
			}
		}
		changed = !bytes.Equal(before, x.file)
	}
	if errors.Is(x.stopped, errExhausted) {
		x.stopped = nil
	}
	return x.now, x.runs, x.stopped
}

// drawn leaves settings that were drawn as they are in what they were drawn around, where it is the same without them.
func drawn(x *shrinker) {
	if x.base != nil {
		settings.Each(x.base, func(back func(*scenarios.Scenario)) { x.try(back) })
	}
}
