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
	if o.Tier == scenarios.Program {
		return judgeBeside(s, s, o, out)
	}
	return judge(s, &s.Expect, o, out)
}

// judgeBeside judges a run of somebody's lock beside one of Redlock in the simulator; seen is the scenario with what can be
// seen.
func judgeBeside(s, seen *scenarios.Scenario, o scenarios.Options, out *scenarios.Outcome) (*Result, error) {
	sound, err := Judge(s, scenarios.Options{Seed: o.Seed, Unhashed: true, Unwatched: true})
	if err != nil {
		return nil, err
	}
	r, err := judgeForeign(seen, o, out)
	if err != nil {
		return nil, err
	}
	r.Scenario = s
	r.compareAvailability(sound.Unavailable)
	return r, nil
}

// judgeForeign judges a run of somebody's lock by what a sound Redlock shows in the scenario: it may show less. What the
// catalogue expects of durations and of how often somebody waits, tries or is granted the lock is about the library's own way
// to wait, on a quorum of nodes. A file of somebody's own means the lock that it is run with; but no program tells of its
// attempts.
func judgeForeign(s *scenarios.Scenario, o scenarios.Options, out *scenarios.Outcome) (*Result, error) {
	comparable := *s
	isGranted := slices.ContainsFunc(s.Expect.Grants, func(g strictyaml.Entry[int]) bool { return g.Value > 0 })
	if s.Theme != scenarios.Own && isGranted {
		comparable.Expect.Grants = nil
	}
	if s.Theme != scenarios.Own || o.Tier == scenarios.Live {
		forgetHaste(&comparable.Expect)
	} else {
		allowLess(&comparable.Expect)
	}
	r, err := judge(&comparable, &s.Expect, o, out)
	if err != nil {
		return nil, err
	}
	comparable.Expect.Findings = r.allowed(r.Findings, s.Expect.Findings)
	for i := range comparable.Expect.Resources {
		on := &comparable.Expect.Resources[i]
		on.Value.Findings = r.allowed(r.findingsOn(on.Key), s.Expect.Resources[i].Value.Findings)
	}
	if !slices.ContainsFunc(comparable.Expect.Findings, checker.Kind.Violation) {
		comparable.Claim = scenarios.Holds // as far as this lock shows
	}
	if len(r.Leaks) == 0 {
		comparable.Expect.Leaks = nil
	}
	if r, err = judge(&comparable, &s.Expect, o, out); err != nil {
		return nil, err
	}
	r.Scenario = s
	return r, nil
}

// JudgeLive judges a run on tier live, of the scenario's lock or of somebody's program. What a scenario expects of durations
// and of how often somebody waits or tries is left out: there, these depend on the machine. So is what only monitors find,
// who cannot look into real servers; that a program waits busily is found there, too, and graded. The error is as of Judge.
func JudgeLive(s *scenarios.Scenario, out *scenarios.Outcome, foreign *scenarios.Foreign) (r *Result, err error) {
	defer s.Recovered(scenarios.Options{Tier: scenarios.Live}, &err)
	seen := *s
	e := &seen.Expect
	e.Findings = slices.DeleteFunc(slices.Clone(e.Findings), checker.Kind.Monitored)
	if foreign != nil {
		return judgeBeside(s, &seen, scenarios.Options{Tier: scenarios.Live, Foreign: foreign}, out)
	}
	forgetHaste(e)
	if len(e.Findings) < len(s.Expect.Findings) && (!slices.ContainsFunc(e.Findings, checker.Kind.Violation) || s.Budget.Beyond(out.Used) != nil) {
		seen.Claim = scenarios.Holds // as far as anything shows there
	}
	r, err = judge(&seen, &seen.Expect, scenarios.Options{Tier: scenarios.Live}, out)
	if r != nil {
		r.Scenario = s
	}
	return r, err
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

// judge compares what a run showed with what the scenario claims and expects; hoped is what people are told of the latter.
func judge(s *scenarios.Scenario, hoped *scenarios.Expect, o scenarios.Options, out *scenarios.Outcome) (*Result, error) {
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
	if r.Tier == "" {
		r.Tier = scenarios.Model
	}
	for _, f := range r.own() {
		if f.Kind != checker.NotTested && !slices.Contains(r.Findings, f.Kind) {
			r.Findings = append(r.Findings, f.Kind)
		}
	}
	for _, u := range report.Resources {
		r.Unavailable = max(r.Unavailable, u.Unavailable.For)
	}
	problem := func(c Class, format string, args ...any) {
		r.Problems = append(r.Problems, Problem{c, fmt.Sprintf(format, args...)})
	}
	r.NotTested = notTested(s, out, report)
	if r.Unproven = r.unproven(); r.Unproven != "" {
		r.NotTested = append(r.NotTested, r.Unproven)
	}
	for _, text := range r.NotTested {
		problem(NotTested, "not tested: %s", text)
	}
	r.judgeSafety(hoped, problem)
	r.judgeLiveness(func(c Class, format string, args ...any) {
		problem(c, format, args...)
		r.fewer = true
	})
	if s.Expect.Unavailable.Unbounded {
		err = r.verifyUnbounded(problem)
	}
	return r, err
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
