package verdict

import (
	"slices"

	"redlocksim/checker"
)

// Grade is how somebody's lock did in a scenario, beside a sound Redlock under the same faults.
type Grade string

// The grades. A lock can have several of the worse ones.
const (
	// AsSound: nothing went wrong that does not with Redlock.
	AsSound Grade = "as-sound"
	// Weaker: it was violated where Redlock is not.
	Weaker Grade = "weaker"
	// LessAvailable: it could not be had for longer than Redlock, or its holder was refused by the resource.
	LessAvailable Grade = "less-available"
	// LeavesKeys: it left keys behind after it had let go of them, which keep others waiting.
	LeavesKeys Grade = "leaks"
	// BusyWaits: whoever waited for it asked again and again without a pause, where Redlock does not.
	BusyWaits Grade = "busy-waits"
	// Failed: its program did what none may, such as to exit, and ended the run.
	Failed Grade = "failed"
	// NotApplicable: the scenario says nothing about it, or the run did not come to what it tests.
	NotApplicable Grade = "not-applicable"
)

// WorseGrades are those of a lock that does worse than Redlock, the worst first.
func WorseGrades() []Grade { return []Grade{Weaker, LessAvailable, LeavesKeys, BusyWaits} }

// Cause is one of the things for which a run has a grade that is worse than Redlock's.
type Cause struct {
	Grade Grade `json:"grade"`
	// Cause is a kind of finding, "verdict" for what is none, "unavailable", "program", or a key without a time to live.
	Cause string `json:"cause"`
}

// Says is the cause for people.
func (c Cause) Says() string {
	if k := checker.Kind(c.Cause); k.Word() != "" {
		return k.Says()
	}
	return c.Cause
}

// Grades are those of a run of somebody's lock, the worst first; nil of the library's own, and of a run that failed.
func (r *Result) Grades() (all []Grade) {
	for _, c := range r.Causes() {
		if !slices.Contains(all, c.Grade) {
			all = append(all, c.Grade)
		}
	}
	switch {
	case all != nil || !r.isGraded():
		return all
	case r.isApplicable():
		return []Grade{AsSound}
	}
	return []Grade{NotApplicable}
}

func (r *Result) isGraded() bool { return r.foreign != nil && !r.Has(RunFailed) }

// isApplicable says that the run came to what it tests, or tells enough all the same: that the lock breaks, which SetDisturbed
// withdraws, or that nobody is ever granted it.
func (r *Result) isApplicable() bool {
	return !r.Has(NotTested) || slices.ContainsFunc(r.Findings, checker.Kind.Violation) || r.Longer > 0 || r.fewer
}

// Causes are those of the Grades; nil if none is worse.
func (r *Result) Causes() (all []Cause) {
	add := func(g Grade, cause string, is bool) {
		if is {
			all = append(all, Cause{g, cause})
		}
	}
	add(Failed, "program", r.isGraded() && r.Has(ProgramFailed))
	if all != nil || !r.isGraded() || !r.isApplicable() {
		return all
	}
	e := &r.Scenario.Expect
	isNew := func(g Grade, k checker.Kind) {
		add(g, string(k), slices.Contains(r.Findings, k) && !slices.Contains(e.Findings, k))
	}
	for _, k := range r.amiss(r.Findings, e.Findings) {
		add(Weaker, string(k), k.Violation())
	}
	// A key that stands for ever is no violation by itself.
	add(Weaker, "verdict", all == nil && r.Has(Safety) && len(r.Leaks) == 0)
	add(LessAvailable, "unavailable", r.Longer > 0 || r.fewer)
	isNew(LessAvailable, checker.HolderRefused) // the resource keeps a holder from its work
	isNew(LeavesKeys, checker.Leftover)
	for _, key := range leaked(r.Leaks) {
		add(LeavesKeys, key+" without a time to live", !slices.Contains(e.Leaks, key))
	}
	isNew(BusyWaits, checker.BusyWait)
	return all
}
