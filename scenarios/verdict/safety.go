package verdict

import (
	"slices"
	"strings"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/internal/plural"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
)

// judgeSafety compares what was found, leaked and granted with what the scenario claims and expects.
func (r *Result) judgeSafety(hoped *scenarios.Expect, problem func(c Class, format string, args ...any)) {
	s := r.Scenario
	// What was not tested is not missed.
	tested := r.NotTested == nil
	expected := slices.DeleteFunc(slices.Clone(s.Expect.Findings), func(k checker.Kind) bool { return !tested && !slices.Contains(r.Findings, k) })
	if !slices.Equal(r.Findings, expected) {
		problem(differ(r.Findings, expected), "%s", r.beside(r.Findings.Says(), hoped.Findings.Says()))
	}
	for i, on := range s.Expect.Resources {
		if found := r.findingsOn(on.Key); !slices.Equal(found, on.Value.Findings) {
			problem(differ(found, on.Value.Findings), "%s", r.beside(found.Says()+" on "+on.Key, hoped.Resources[i].Value.Findings.Says()))
		}
	}
	if keys := leaked(r.Leaks); !slices.Equal(keys, slices.Sorted(slices.Values(s.Expect.Leaks))) {
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
	case s.Claim == scenarios.Holds && r.Inexcusable():
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
	case s.Claim == scenarios.Unsound && !violated && tested:
		problem(Safety, "the file claims that the lock is unsound, and it holds")
	case s.Claim == scenarios.Unsound && r.Beyond != nil && !r.Inexcusable():
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
	case r.Scenario.Theme == scenarios.Own:
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
	t := scenarios.Told{Leaks: leaked(r.Leaks)}
	for _, f := range findings {
		if !slices.Contains(t.Findings, f.Kind) {
			t.Findings = append(t.Findings, f.Kind)
		}
	}
	return t.String()
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

// missing are those of others that are not among these.
func missing(f, others scenarios.Findings) scenarios.Findings {
	return slices.DeleteFunc(slices.Clone(others), func(k checker.Kind) bool { return slices.Contains(f, k) })
}

// differ is what it concerns that these findings are not others.
func differ(f, other scenarios.Findings) Class {
	if slices.ContainsFunc(append(missing(f, other), missing(other, f)...), func(k checker.Kind) bool { return !k.Liveness() }) {
		return Safety
	}
	return Liveness
}
