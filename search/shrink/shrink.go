package shrink

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/sim/history"
)

// Finding shrinks a violation and makes a finding of it. It is not done, and there is no error, if ctx ended before; any
// other error is that of [Violation].
func Finding(ctx context.Context, v search.Violation, runs int) (f search.Finding, done bool, err error) {
	example, err := Violation(ctx, v, runs)
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return search.Finding{}, false, nil
	case err != nil:
		return search.Finding{}, false, err
	}
	r, err := scenarios.Judge(example, scenarios.Options{Seed: v.Seed, Foreign: v.Foreign, Unhashed: true})
	if err != nil {
		return search.Finding{}, false, err
	}
	f = search.NewFinding(&v, r)
	found, err := watch(v.Options())(v.Scenario)
	f.EventsBefore = search.Events(found)
	return f, err == nil, err
}

// Violation gives the smallest experiment that still has a violation, with the same lock, persistence and storage, as a
// counterexample: it says what it shows, and is verified on all tiers. One with a lock of the caller's is neither; one with a
// program says what the library shows. It takes about that many runs at the most. The violation and its scenario stay as they
// are.
//
// The error is that of the context if it ended. Any other is internal, or says that the run does not show the violation, or
// not on all tiers.
func Violation(ctx context.Context, v search.Violation, runs int) (*scenarios.Scenario, error) {
	if err := v.WithoutIdle(); err != nil {
		return nil, err
	}
	same, err := v.Same()
	if err != nil {
		return nil, err
	}
	seen := watch(v.Options())
	if v.Failed != nil {
		same, seen = tolerant(v.Failed, same), tolerant(v.Failed, seen)
	}
	if v.Scenario, _, err = minimize(ctx, v.Scenario, v.Base, same, seen, runs); err != nil {
		return nil, err
	}
	// What is left may end too early for some of it, if the runs did not suffice.
	switch err := v.WithoutIdle(); {
	case err != nil || v.Foreign != nil && !v.Foreign.IsProgram:
		return v.Scenario, err
	case v.Foreign != nil:
		return compared(&v)
	}
	return counterexample(v.Scenario, v.Seed)
}

// tolerant has a run that fails be none, and tells of it. One that takes too long is nothing to tell of.
func tolerant[T any](failed func(error), run func(*scenarios.Scenario) (T, error)) func(*scenarios.Scenario) (T, error) {
	return func(s *scenarios.Scenario) (result T, err error) {
		err = search.Safely(func() (err error) {
			result, err = run(s)
			return err
		})
		if err != nil && !errors.Is(err, scenarios.ErrTooLong) {
			failed(err)
			err = nil
		}
		return result, err
	}
}

// watch runs scenarios and gives what happens.
func watch(o scenarios.Options) func(*scenarios.Scenario) (history.History, error) {
	o.Unhashed = true
	return func(s *scenarios.Scenario) (history.History, error) {
		out, err := scenarios.Run(s, o)
		if err != nil {
			return nil, err
		}
		return out.History, nil
	}
}

// errNotBroken is the error of minimize for a scenario that does not show what is to be kept.
var errNotBroken = errors.New("shrink: the scenario is not broken to begin with")

// minimize takes a scenario for which broken is true, and returns a simpler one for which it still is: a local minimum, in
// which no pass finds anything to take out or to make simpler. The same scenario always gives the same, and a minimum gives
// itself. broken must be a pure function of the scenario; it is only asked about scenarios that a file can hold, and at most so
// many times. base, if not nil, is the settings around which those of the scenario were drawn.
//
// What is asked about stays as it is: the protocol, its preset and the budget. The scenario's texts, its claim and what it
// expects are not looked at, but for clients that are taken out of the latter.
//
// The error matches errNotBroken if there is nothing to keep, is that of the context if it ended, or is what broken
// returned. In the last two cases the simplest scenario so far is returned too, as where the runs did not suffice. The number
// is how many were made.
func minimize(ctx context.Context, s, base *scenarios.Scenario, broken func(*scenarios.Scenario) (bool, error), watch func(*scenarios.Scenario) (history.History, error), runs int) (*scenarios.Scenario, int, error) {
	x := &shrinker{ctx: ctx, broken: broken, watch: watch, limit: runs, name: s.Name, base: base, known: map[string]bool{}, refused: map[string]bool{}}
	var err error
	if x.data, err = s.Encode(); err == nil {
		x.now, err = x.parse(x.data)
	}
	if err != nil {
		return nil, x.runs, fmt.Errorf("shrink: not a scenario that a file can hold: %w", err)
	}
	x.weight = weigh(x.now, x.data, base)
	if !x.shows(&x.candidate) {
		if x.stopped == nil {
			x.stopped = errNotBroken
		}
		return nil, x.runs, x.stopped
	}
	for changed := true; changed && x.stopped == nil; {
		before := x.data
		for _, pass := range passes {
			if x.stopped == nil {
				pass(x)
			}
		}
		changed = !bytes.Equal(before, x.data)
	}
	if errors.Is(x.stopped, errExhausted) {
		x.stopped = nil
	}
	return x.now, x.runs, x.stopped
}
