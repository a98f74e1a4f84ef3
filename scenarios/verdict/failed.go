package verdict

import (
	"errors"
	"strings"

	"redlocksim/scenarios"
	"redlocksim/sim/kernel"
)

// failed is the error of a run.
func failed(s *scenarios.Scenario, o scenarios.Options, err error) error {
	return &scenarios.RunError{Scenario: s, Tier: o.On(), Seed: o.Seed, Err: err}
}

// EndedByProgram is the result of a run that ended with an error because a lock program did what none may; nil if the error is
// another. An error of the kind has a method OfProgram, or is that a program made the run too long.
func EndedByProgram(s *scenarios.Scenario, o scenarios.Options, err error) *Result {
	what := ""
	failed, long := scenarios.ProgramFailure(nil), (*kernel.TooLong)(nil)
	switch {
	case errors.As(err, &failed):
		what = failed.Error()
	case errors.As(err, &long) && o.On() == scenarios.Program:
		what = long.Error()
	default:
		return nil
	}
	return lost(s, o, ProgramFailed, what)
}

// FailedRun is the result of a run that could not be made or judged: its error says why.
func FailedRun(s *scenarios.Scenario, o scenarios.Options, err error) *Result {
	line, _, _ := strings.Cut(err.Error(), "\n")
	r := lost(s, o, RunFailed, line)
	r.Err = err
	return r
}

// lost is the result of a run without a verdict.
func lost(s *scenarios.Scenario, o scenarios.Options, class Class, why string) *Result {
	return &Result{Scenario: s, Tier: o.On(), Seed: o.Seed, Outcome: &scenarios.Outcome{}, foreign: o.Foreign, Problems: []Problem{{class, why}}}
}
