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
func (r *Result) judgeSafety(s *scenarios.Scenario, hoped *scenarios.Expect, problem func(c Class, format string, args ...any)) {
	tested := r.NotTested == nil
	amiss := slices.DeleteFunc(r.amiss(r.Findings, s.Expect.Findings), func(k checker.Kind) bool {
		return !tested && !slices.Contains(r.Findings, k) // what was not tested is not missed
	})
	if len(amiss) > 0 {
		problem(concerning(amiss), "%s", r.beside(r.Findings.Says(), hoped.Findings.Says()))
	}
	for i, on := range s.Expect.Resources {
		found := r.findingsOn(on.Key)
		if amiss := r.amiss(found, on.Value.Findings); len(amiss) > 0 {
			problem(concerning(amiss), "%s", r.beside(found.Says()+" on "+on.Key, hoped.Resources[i].Value.Findings.Says()))
		}
	}
	if keys := leaked(r.Leaks); !slices.Equal(keys, slices.Sorted(slices.Values(s.Expect.Leaks))) {
		problem(Liveness, "keys without a time to live: %s", r.beside(listed(keys), listed(hoped.Leaks)))
	}
	leaks, class := len(r.Leaks) > 0, Liveness
	violated := leaks || r.Defect() != nil
	leaks = leaks && r.foreign == nil // a program's are graded by themselves
	if leaks || r.Witness() != nil {
		class = Safety
	}
	counting := r.counting()
	switch {
	case s.Claim == scenarios.Holds && r.Inexcusable():
		if !leaks && !slices.ContainsFunc(counting, checker.Kind.Violation) {
			class = Liveness
		}
		switch what := (scenarios.Told{Findings: counting, Leaks: leaked(r.Leaks)}).String(); {
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

func grants(h history.History, client string) int {
	n := 0
	for i := range h {
		if h[i].Process == client && faults.EventName(&h[i]) == "acquire-done" {
			n++
		}
	}
	return n
}

// amiss are the kinds in which what was found is not as expected. Somebody's lock may show less, or what as sound a lock does.
// Whether a late write comes before or after the next holder's depends on how fast the next one is, and whether somebody takes
// an unprotected lock does, too. Beyond the budget a lease may last longer than its keys.
func (r *Result) amiss(found, expected scenarios.Findings) scenarios.Findings {
	more := missing(expected, found)
	if r.foreign == nil {
		return append(more, missing(found, expected)...)
	}
	late := []checker.Kind{checker.StaleWrite, checker.AcceptedAfterExpiry, checker.LostUpdate}
	isLate := func(k checker.Kind) bool { return slices.Contains(late, k) }
	return slices.DeleteFunc(more, func(k checker.Kind) bool {
		collides := isLate(k) || k == checker.LeaseOverlap
		return !k.Defect() || k == checker.Contract && r.Excused(k) || isLate(k) && slices.ContainsFunc(expected, isLate) ||
			collides && slices.Contains(expected, checker.Unprotected)
	})
}

// missing are those of others that are not among these.
func missing(f, others scenarios.Findings) scenarios.Findings {
	return slices.DeleteFunc(slices.Clone(others), func(k checker.Kind) bool { return slices.Contains(f, k) })
}

// concerning is what kinds that are amiss concern.
func concerning(amiss scenarios.Findings) Class {
	if slices.ContainsFunc(amiss, func(k checker.Kind) bool { return !k.Liveness() }) {
		return Safety
	}
	return Liveness
}
