package scenarios

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/internal/plural"
	"redlocksim/sim/history"
)

// forgetHaste leaves out what is expected of durations and of how often somebody waits or tries.
func (e *Expect) forgetHaste() {
	e.Unavailable = Unavailable{Bounds: Bounds{AtMost: math.MaxInt64}}
	e.Waits = Waits{}
	e.Resources = slices.Clone(e.Resources)
	for i := range e.Resources {
		e.Resources[i].Value = ExpectOn{Findings: e.Resources[i].Value.Findings}
	}
}

// allowLess leaves out what is expected at the least of how long and how often somebody waits, and of attempts.
func (e *Expect) allowLess() {
	if e.Unavailable.Unbounded {
		e.Unavailable = Unavailable{Bounds: Bounds{AtMost: math.MaxInt64}}
	}
	e.Unavailable.AtLeast = 0
	e.Waits = e.Waits.atMost()
	e.Resources = slices.Clone(e.Resources)
	for i := range e.Resources {
		on := &e.Resources[i].Value
		on.Unavailable, on.Waits = on.Unavailable.atMost(), on.Waits.atMost()
	}
}

// atMost is without what is expected at the least, and of attempts.
func (w Waits) atMost() Waits {
	return Waits{Takeover: w.Takeover.atMost(), Bypass: w.Bypass.atMost(), Overtakes: w.Overtakes.atMost(), AfterHealing: w.AfterHealing.atMost()}
}

func (b *Bounds) atMost() *Bounds {
	if b == nil {
		return nil
	}
	return &Bounds{AtMost: b.AtMost}
}

func (b *CountBounds) atMost() *CountBounds {
	if b == nil {
		return nil
	}
	return &CountBounds{AtMost: b.AtMost}
}

// judge compares what a run showed with what the scenario claims and expects; hoped is what people are told of the latter.
func judge(s *Scenario, hoped *Expect, o Options, out *Outcome) (*Result, error) {
	report, err := s.check(out)
	if err != nil {
		return nil, s.failed(o, err)
	}
	report.Add(out.Monitored...)
	report.Compared.Watched = out.Watched
	if err := s.confirm(o, report); err != nil {
		return nil, err
	}
	r := &Result{Scenario: s, Tier: o.Tier, Seed: o.Seed, Outcome: out, Report: report, Beyond: s.Budget.Beyond(out.Used), foreign: o.Foreign, unrefined: o.Unrefined}
	if r.Tier == "" {
		r.Tier = Model
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
	r.NotTested = s.notTested(out, report)
	if r.Unproven = s.unproven(r); r.Unproven != "" {
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

// judgeSafety compares what was found, leaked and granted with what the scenario claims and expects.
func (r *Result) judgeSafety(hoped *Expect, problem func(c Class, format string, args ...any)) {
	s := r.Scenario
	// What was not tested is not missed.
	tested := r.NotTested == nil
	expected := slices.DeleteFunc(slices.Clone(s.Expect.Findings), func(k checker.Kind) bool { return !tested && !slices.Contains(r.Findings, k) })
	if !slices.Equal(r.Findings, expected) {
		problem(r.Findings.differ(expected), "%s", r.beside(r.Findings.Says(), hoped.Findings.Says()))
	}
	for i, on := range s.Expect.Resources {
		if found := r.findingsOn(on.Key); !slices.Equal(found, on.Value.Findings) {
			problem(found.differ(on.Value.Findings), "%s", r.beside(found.Says()+" on "+on.Key, hoped.Resources[i].Value.Findings.Says()))
		}
	}
	if keys := leaked(r.Leaks); !sameSet(keys, s.Expect.Leaks) {
		problem(Liveness, "keys without a time to live: %s", r.beside(listed(keys), listed(hoped.Leaks)))
	}
	leaks, class := len(r.Leaks) > 0, Liveness
	violated := leaks || r.Witness() != nil || r.Defect() != nil
	leaks = leaks && r.foreign == nil // a program's are graded by themselves
	if leaks || r.Witness() != nil {
		class = Safety
	}
	counting := r.counting()
	switch {
	case s.Claim == Holds && r.Inexcusable():
		if !leaks && !slices.ContainsFunc(counting, func(f checker.Finding) bool { return f.Kind.Violation() }) {
			class = Liveness
		}
		switch what := r.violations(counting); {
		case r.foreign == nil:
			problem(class, "the file claims that the lock holds, but %s: %s", r.keeping(), what)
		case r.Has(class): // it has been said, and what is compared with it
		case r.Beyond == nil:
			problem(class, "%s, which no sound lock shows within the budget", what)
		default:
			problem(class, "%s, which no fault excuses", what)
		}
	case s.Claim == Unsound && !violated && tested:
		problem(Safety, "the file claims that the lock is unsound, and it holds")
	case s.Claim == Unsound && r.Beyond != nil && !r.Inexcusable():
		problem(Safety, "the file claims that the lock is unsound, but the faults exceed the budget: %s", strings.Join(r.Beyond, "; "))
	}
	for _, g := range s.Expect.Grants {
		n, class := grants(r.History, g.Key), Safety
		if r.foreign != nil && n < g.Value {
			class, r.fewer = Liveness, true
		}
		if n != g.Value {
			problem(class, "%s was granted the lock %s, expected %d", g.Key, plural.Count(n, "time"), g.Value)
		}
	}
}

// beside is what was found and what is compared with it: what the file expects or, of somebody's lock, what a sound Redlock
// shows, unless the file is about that lock.
func (r *Result) beside(found, other string) string {
	switch {
	case r.foreign == nil:
		return "found " + found + ", expected " + other
	case r.Scenario.Theme == Own:
		return found + "; the file expects: " + other
	}
	return found + "; a sound Redlock under the same faults: " + other
}

// listed is keys in a text.
func listed(keys []string) string {
	if len(keys) == 0 {
		return "none"
	}
	return strings.Join(keys, " and ")
}

// keeping says why what was found counts.
func (r *Result) keeping() string {
	if r.Beyond == nil {
		return "within the budget it does not"
	}
	return "no fault excuses this"
}

// violations are findings in words, and keys without a time to live.
func (r *Result) violations(findings []checker.Finding) string {
	t := told{leaks: leaked(r.Leaks)}
	for _, f := range findings {
		if !slices.Contains(t.findings, f.Kind) {
			t.findings = append(t.findings, f.Kind)
		}
	}
	return t.String()
}

// notTested says what did not take place of what a run was to test.
func (s *Scenario) notTested(out *Outcome, report checker.Report) []string {
	missing := s.Expect.missed(out.History)
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

func grants(h history.History, client string) int {
	n := 0
	for i := range h {
		if h[i].Process == client && faults.EventName(&h[i]) == "acquire-done" {
			n++
		}
	}
	return n
}
