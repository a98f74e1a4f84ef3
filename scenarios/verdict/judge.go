package verdict

import (
	"fmt"
	"slices"

	"redlocksim/checker"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
)

// Judge runs a scenario once, and for twice its duration where it is to be unavailable without bound, and judges the run.
// The error is a [*scenarios.RunError], also of what panics while the run is judged.
func Judge(s *scenarios.Scenario, o scenarios.Options) (result *Result, err error) {
	o.Tier = o.On()
	defer s.Recovered(o, &err)
	out, err := scenarios.Run(s, o)
	if err != nil {
		return nil, err
	}
	r, err := measure(s, o, out)
	switch {
	case err != nil:
	case o.Tier == scenarios.Program:
		err = r.judgeBeside(s)
	default:
		err = r.judge(s, &s.Expect)
	}
	return r, err
}

// judgeBeside judges a run of somebody's lock beside one of Redlock in the simulator; seen is the scenario with what can be
// seen. What a sound Redlock shows in the scenario somebody's lock may show as well, or less. What the catalogue expects of
// durations and of how often somebody waits, tries or is granted the lock is about the library's own way to wait, on a quorum
// of nodes. A file of somebody's own means the lock that it is run with; but no program tells of its attempts.
func (r *Result) judgeBeside(seen *scenarios.Scenario) error {
	sound, err := Judge(r.Scenario, scenarios.Options{Seed: r.Seed, Unhashed: true, Unwatched: true})
	if err != nil {
		return err
	}
	comparable := *seen
	e := &comparable.Expect
	isGranted := slices.ContainsFunc(e.Grants, func(g strictyaml.Entry[int]) bool { return g.Value > 0 })
	if seen.Theme != scenarios.Own && isGranted {
		e.Grants = nil
	}
	if seen.Theme != scenarios.Own || r.Tier == scenarios.Live {
		forgetHaste(e)
	} else {
		allowLess(e)
	}
	amiss := r.amiss(r.Findings, e.Findings)
	if !slices.ContainsFunc(r.Findings, func(k checker.Kind) bool { return k.Violation() && !slices.Contains(amiss, k) }) {
		comparable.Claim = scenarios.Holds // as far as this lock shows
	}
	if len(r.Leaks) == 0 {
		e.Leaks = nil
	}
	err = r.judge(&comparable, &seen.Expect)
	r.compareAvailability(sound.Unavailable)
	return err
}

// JudgeLive judges a run on tier live, of the scenario's lock or of somebody's program. What a scenario expects of durations
// and of how often somebody waits or tries is left out: there, these depend on the machine. So is what only monitors find,
// who cannot look into real servers; that a program waits busily is found there, too, and graded. The error is as of Judge.
func JudgeLive(s *scenarios.Scenario, out *scenarios.Outcome, foreign *scenarios.Foreign) (r *Result, err error) {
	defer s.Recovered(scenarios.Options{Tier: scenarios.Live}, &err)
	seen := *s
	e := &seen.Expect
	e.Findings = slices.DeleteFunc(slices.Clone(e.Findings), checker.Kind.Monitored)
	if r, err = measure(s, scenarios.Options{Tier: scenarios.Live, Foreign: foreign}, out); err != nil {
		return nil, err
	}
	if foreign != nil {
		return r, r.judgeBeside(&seen)
	}
	forgetHaste(e)
	if len(e.Findings) < len(s.Expect.Findings) && (!slices.ContainsFunc(e.Findings, checker.Kind.Violation) || r.Beyond != nil) {
		seen.Claim = scenarios.Holds // as far as anything shows there
	}
	return r, r.judge(&seen, e)
}

// SetDisturbed says of a run on tier live how the machine held it up, in place of what was not as expected: it shows nothing.
func (r *Result) SetDisturbed(why string) {
	r.Disturbed = true
	if len(r.Problems) > 0 {
		why += "; it came to: " + r.Problems[0].Text
	}
	r.NotTested, r.Findings, r.Longer = []string{why}, nil, 0
	r.Problems = []Problem{{NotTested, "not tested: " + why}}
}

// measure says what a run showed, which is still to be judged.
func measure(s *scenarios.Scenario, o scenarios.Options, out *scenarios.Outcome) (*Result, error) {
	report, err := checker.Check(out.History, s.CheckOptions())
	if err != nil {
		return nil, failed(s, o, err)
	}
	report.Add(out.Monitored...)
	report.Compared.Watched = out.Watched
	if err := confirm(s, o, report); err != nil {
		return nil, err
	}
	r := &Result{Scenario: s, Tier: o.Tier, Seed: o.Seed, Outcome: out, Report: report, Beyond: s.Budget.Beyond(out.Used), foreign: o.Foreign, unrefined: o.Unrefined}
	r.Findings = r.kinds(excused, func(f *checker.Finding) bool { return f.Kind != checker.NotTested })
	for _, u := range report.Resources {
		r.Unavailable = max(r.Unavailable, u.Unavailable.For)
	}
	r.NotTested = notTested(s, out, report)
	if r.Unproven = r.unproven(); r.Unproven != "" {
		r.NotTested = append(r.NotTested, r.Unproven)
	}
	return r, nil
}

// judge compares what the run showed with what its scenario claims and expects as far as that can be seen; hoped is what people
// are told of the latter.
func (r *Result) judge(s *scenarios.Scenario, hoped *scenarios.Expect) error {
	problem := func(c Class, format string, args ...any) {
		r.Problems = append(r.Problems, Problem{c, fmt.Sprintf(format, args...)})
	}
	for _, text := range r.NotTested {
		problem(NotTested, "not tested: %s", text)
	}
	r.judgeSafety(s, hoped, problem)
	r.judgeLiveness(&s.Expect, func(c Class, format string, args ...any) {
		problem(c, format, args...)
		r.fewer = true
	})
	if s.Expect.Unavailable.Unbounded {
		return r.verifyUnbounded(problem)
	}
	return nil
}

// notTested says what did not take place of what a run was to test.
func notTested(s *scenarios.Scenario, out *scenarios.Outcome, report checker.Report) []string {
	missing := missed(s.Expect.Reached, out.History)
	for _, text := range append(slices.Clone(out.NotInjected), out.Idle...) {
		missing = append(missing, "the timeline was not carried out: "+text)
	}
	for _, f := range out.Unmet {
		missing = append(missing, fmt.Sprintf("no message met this fault: %v", f))
	}
	if why := report.NotTested(); why != "" {
		missing = append(missing, why)
	}
	return missing
}
