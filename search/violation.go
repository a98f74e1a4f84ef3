package search

import (
	"slices"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/search/settings"
	"redlocksim/sim/history"
)

// Violation is a run that violates something.
type Violation struct {
	// Scenario is the experiment, and Seed what it is run with.
	Scenario *scenarios.Scenario
	Seed     uint64
	// Foreign is the lock in the place of the scenario's protocol; nil if it is that.
	Foreign *scenarios.Foreign
	// Kind is what it violates; of several, what to keep.
	Kind checker.Kind
	// Beyond says that its faults exceed the budget, which excuses it. A violation that nothing excuses stays so.
	Beyond bool
	// Despite says that its faults exceed the budget, and are no excuse. A violation within the budget stays within it.
	Despite bool
	// Unrefined says that it was found without the specification: what only that sees is not looked for, beside which
	// Unprotected does not stand.
	Unrefined bool
	// Failed, if not nil, is told of each run on the way to a smaller experiment that fails, which is then not taken. If nil,
	// the first of them ends the shrinking.
	Failed func(error)
	// Base is the settings around which those of the scenario were drawn, and to which they may go back; nil if they stay.
	Base *scenarios.Scenario
}

// Options are those of its runs.
func (v *Violation) Options() scenarios.Options {
	return scenarios.Options{Seed: v.Seed, Foreign: v.Foreign, Unrefined: v.Unrefined}
}

// Question runs an experiment and gives its history if it shows something; nil if it does not.
type Question func(*scenarios.Scenario) (history.History, error)

// Same asks which experiments show the same violation: of the same kind, with the same lock, persistence and storage, or those
// of Base, and without excuse if this one is. The error is that of a scenario that a file cannot hold.
func (v *Violation) Same() (Question, error) {
	// As a file has the settings: 0.50 % is 0.5 % when it is read again.
	data, err := v.Scenario.Encode()
	if err != nil {
		return nil, err
	}
	read, err := scenarios.Parse(v.Scenario.Name, data)
	if err != nil {
		return nil, err
	}
	given := []*scenarios.Scenario{read[0]}
	if v.Base != nil {
		given = append(given, v.Base)
	}
	covered := v.Base != nil && settings.Uncovered(read[0]) == ""
	return func(x *scenarios.Scenario) (history.History, error) {
		if !isAmong(x, given) || covered && settings.Uncovered(x) != "" {
			return nil, nil
		}
		o := v.Options()
		o.Unhashed = true
		r, err := verdict.Judge(x, o)
		if err != nil || !slices.Contains(r.Report.Shows(checker.Kind.Defect), v.Kind) || !v.Beyond && (r.Excused(v.Kind) || !v.Despite && r.Beyond != nil) {
			return nil, err
		}
		return r.History, nil
	}, nil
}

// isAmong says whether each of the lock's settings, the persistence and the storage are as in one of some scenarios.
func isAmong(x *scenarios.Scenario, given []*scenarios.Scenario) bool {
	among := func(is func(*scenarios.Scenario) bool) bool { return slices.ContainsFunc(given, is) }
	for _, f := range x.Lock.Protocol.Keys() {
		if !among(func(s *scenarios.Scenario) bool {
			lock := x.Lock
			return s.Lock.Protocol == lock.Protocol && !lock.Take(f.Key, s.Lock)
		}) {
			return false
		}
	}
	return among(func(s *scenarios.Scenario) bool { return x.Nodes.Persistence == s.Nodes.Persistence }) &&
		among(func(s *scenarios.Scenario) bool { return x.Storage == s.Storage })
}

// WithoutIdle takes what did not happen in its run out of the experiment, which changes nothing else. It gives the history.
func (v *Violation) WithoutIdle() (history.History, error) {
	o := v.Options()
	o.Unhashed = true
	out, err := scenarios.Run(v.Scenario, o)
	if err != nil {
		return nil, err
	}
	v.Scenario = withoutIdle(v.Scenario, out.Left, v.Foreign != nil && v.Foreign.OneNode)
	return out.History, nil
}

// withoutIdle is a scenario without some of its items. A lock on one node is on the first that faults name, and stays there.
func withoutIdle(s *scenarios.Scenario, idle []int, onOneNode bool) *scenarios.Scenario {
	own := *s
	for _, i := range slices.Backward(idle) {
		less := own
		less.Timeline = slices.Delete(slices.Clone(own.Timeline), i, i+1)
		if !onOneNode || less.FirstNode() == s.FirstNode() {
			own = less
		}
	}
	return &own
}
