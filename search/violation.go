package search

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/search/shrink"
)

// Violations are the kinds of violations that a run shows. One that was not tested shows none.
func Violations(r *scenarios.Result) []checker.Kind {
	var kinds []checker.Kind
	if r.Report.NotTested() != "" {
		return nil
	}
	for _, k := range r.Findings {
		if k.Violation() {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// Violation is a run that violates something, before it is shrunk.
type Violation struct {
	// Scenario is the experiment, and Seed what it is run with.
	Scenario *scenarios.Scenario
	Seed     uint64
	// Kind is what it violates; of several, what to keep.
	Kind checker.Kind
	// Beyond says that its faults exceed the budget. What they do not exceed they do not exceed when it is shrunk either.
	Beyond bool
}

// Shrink makes a finding of a violation: the smallest experiment that still has it, with the same lock, persistence and
// storage, repeated on all tiers. It takes about that many runs at the most. Not done, and no error, if ctx ended before.
// The error is an internal one, or matches shrink.ErrNotBroken or shrink.ErrNotConfirmed where the run does not show the
// violation, or not on all tiers.
func (v Violation) Shrink(ctx context.Context, runs int) (f Finding, done bool, err error) {
	whole := *v.Scenario
	whole.Timeline = slices.Clone(whole.Timeline)
	if err := withoutIdle(&whole, v.Seed); err != nil {
		return Finding{}, false, err
	}
	is, err := v.shownBy(&whole)
	if err != nil {
		return Finding{}, false, err
	}
	small, _, err := shrink.Shrink(ctx, &whole, is, shrink.Options{Runs: runs})
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return Finding{}, false, nil
	}
	if err != nil {
		return Finding{}, false, err
	}
	// What is left may end too early for some of it, if shrinking did not come to its end.
	if err := withoutIdle(small, v.Seed); err != nil {
		return Finding{}, false, err
	}
	example, err := shrink.Counterexample(small, v.Seed)
	if err != nil {
		return Finding{}, false, err
	}
	f = Finding{Kind: v.Kind, Families: Families(example), Seed: v.Seed, Times: 1, Scenario: example}
	// A counterexample claims what holds within its budget, and shows that it does not beyond it.
	f.Beyond = example.Claim == scenarios.Holds
	for _, item := range example.Timeline {
		if item.Fault != nil {
			f.Faults++
		}
	}
	return f, true, nil
}

// withoutIdle takes out of an experiment what does not happen in it, which changes nothing else.
func withoutIdle(s *scenarios.Scenario, seed uint64) error {
	out, err := scenarios.Run(s, scenarios.Options{Seed: seed, Unhashed: true})
	if err != nil {
		return err
	}
	for _, i := range slices.Backward(out.Left) {
		s.Timeline = slices.Delete(s.Timeline, i, i+1)
	}
	return nil
}

// shownBy says whether an experiment that s was shrunk to still shows the violation, and still counts: with the settings
// that the search is about, in a run that is more than nothing, and within the budget if it was.
func (v Violation) shownBy(s *scenarios.Scenario) (func(*scenarios.Scenario) (bool, error), error) {
	// As a file says the settings: 0.50 % is 0.5 % when it is read again.
	data, err := s.Encode()
	if err != nil {
		return nil, err
	}
	read, err := scenarios.Parse(s.Name, data)
	if err != nil {
		return nil, err
	}
	base := read[0]
	return func(x *scenarios.Scenario) (bool, error) {
		if !reflect.DeepEqual(x.Lock, base.Lock) || x.Nodes.Persistence != base.Nodes.Persistence || x.Storage != base.Storage {
			return false, nil
		}
		r, err := scenarios.Judge(x, scenarios.Options{Seed: v.Seed, Unhashed: true})
		if err != nil {
			return false, err
		}
		return slices.Contains(Violations(r), v.Kind) && (v.Beyond || r.Beyond == nil), nil
	}, nil
}
