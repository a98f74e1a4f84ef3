package verdict

import (
	"errors"
	"fmt"

	"redlocksim/scenarios"
	"redlocksim/sim"
	"redlocksim/sim/kernel"
)

// ErrNotRepeated is the error of Verify and Again for a run that was different the second time.
var ErrNotRepeated = errors.New("the run did not repeat itself")

// Verify runs a scenario twice, compares the runs, judges them and, where a violation was beyond the budget, looks for the
// smallest faults. A run that a lock program has ended is a result with the problem ProgramFailed. The error matches
// ErrNotRepeated if the runs differ, ErrTooLong if one is, and is an internal one otherwise.
func Verify(s *scenarios.Scenario, o scenarios.Options) (result *Result, err error) {
	defer s.Recovered(o, &err)
	if result, err = verify(s, o); err != nil {
		if failed := EndedByProgram(s, o, err); failed != nil {
			return failed, nil
		}
	}
	return result, err
}

func verify(s *scenarios.Scenario, o scenarios.Options) (*Result, error) {
	r, err := Judge(s, o)
	if err != nil {
		return nil, err
	}
	if err := Again(s, o, r.Outcome); err != nil {
		return nil, err
	}
	if r.Beyond != nil && r.Witness() != nil {
		r.Smallest, err = findSmallest(r)
	}
	return r, err
}

// Again makes a run once more, with the same tier, seed and lock and without monitors, and compares the two. first must have
// its hashes. The error matches ErrNotRepeated if the runs differ, and names the first difference; any other is an internal
// one.
func Again(s *scenarios.Scenario, o scenarios.Options, first *scenarios.Outcome) error {
	_, err := repeated(s, scenarios.Options{Tier: o.Tier, Seed: o.Seed, Foreign: o.Foreign, Unwatched: true}, first)
	return err
}

func repeated(s *scenarios.Scenario, o scenarios.Options, first *scenarios.Outcome) (*scenarios.Outcome, error) {
	second, err := scenarios.Run(s, o)
	if err == nil && (first.HistoryHash != second.HistoryHash || first.TraceHash != second.TraceHash) {
		err = failed(s, o, fmt.Errorf("%w: %s", ErrNotRepeated, difference(s, o, first, second)))
	}
	return second, err
}

// difference names the first event in which two runs differ or, if their histories are the same, looks for a step of the
// kernel in which two further runs do.
func difference(s *scenarios.Scenario, o scenarios.Options, a, b *scenarios.Outcome) string {
	if text := FirstDifference(a.History, b.History); text != "" {
		return text
	}
	var traces [2][]kernel.TraceStep
	for i := range traces {
		if _, err := scenarios.Run(s, scenarios.Options{Tier: o.Tier, Seed: o.Seed, Foreign: o.Foreign, Trace: func(t kernel.TraceStep) { traces[i] = append(traces[i], t) }}); err != nil {
			return err.Error()
		}
	}
	for i := range min(len(traces[0]), len(traces[1])) {
		if traces[0][i] != traces[1][i] {
			return fmt.Sprintf("the histories are equal; in two further runs step %v and %v", traces[0][i], traces[1][i])
		}
	}
	return "the histories are equal and the traces are not; two further runs had the same steps"
}

// Again makes a run once more, watched, and wants the same history and trace. One on tier live cannot be made again. The error
// matches ErrNotRepeated or is an internal one.
func (r *Result) Again(watch func(*sim.World)) error {
	o := r.options()
	o.Watch, o.Unwatched = watch, true
	_, err := repeated(r.Scenario, o, r.Outcome)
	return err
}

// Unlike says in words that a run with the recorded seed did not give the recorded history; empty if it did, or if
// nothing is recorded. Histories differ between locks, and between versions of the library and the simulator.
func (r *Result) Unlike() string {
	rec := r.Scenario.Recorded
	if rec == nil || rec.Seed != r.Seed || rec.History == r.HistoryHash {
		return ""
	}
	verdict := "the verdict is the same"
	if !r.OK() {
		verdict = "the verdict is another one"
	}
	return fmt.Sprintf("not repeated: the history was %s when the file was written, with another lock or by another version of the library or the simulator; %s", rec.History, verdict)
}
