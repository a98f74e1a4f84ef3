package scenarios

import (
	"fmt"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/strictyaml"
	"redlocksim/sim/history"
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
	for _, k := range r.allowed(r.Findings, e.Findings).missing(r.Findings) {
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

// patience is how much longer than Redlock a lock may be unavailable: how long it waits before it tries again is its own
// affair. On tier live a busy machine makes everything longer, and so does the speed of the run.
const (
	patience       = 2 * time.Second
	patienceOnLive = 15 * time.Second
)

// judgeForeign judges a run of somebody's lock by what a sound Redlock shows in the scenario: it may show less. What the
// catalogue expects of durations and of how often somebody waits, tries or is granted the lock is about the library's own way
// to wait, on a quorum of nodes. A file of somebody's own means the lock that it is run with; but no program tells of its
// attempts.
func judgeForeign(s *Scenario, o Options, out *Outcome) (*Result, error) {
	comparable := *s
	isGranted := slices.ContainsFunc(s.Expect.Grants, func(g strictyaml.Entry[int]) bool { return g.Value > 0 })
	if s.Theme != Own && isGranted {
		comparable.Expect.Grants = nil
	}
	if s.Theme != Own || o.Tier == Live {
		comparable.Expect.forgetHaste()
	} else {
		comparable.Expect.allowLess()
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
		comparable.Claim = Holds // as far as this lock shows
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

// compareAvailability notes by how much longer the lock was unavailable than a sound Redlock is under the same faults. A lock
// that renews itself lasts for as long as somebody believes in it.
func (r *Result) compareAvailability(sound time.Duration) {
	more := patience
	if r.Tier == Live {
		more = patienceOnLive
	}
	var unavailable time.Duration
	for _, on := range r.Report.Resources {
		if r.foreign.Renews {
			unavailable = max(unavailable, on.Unheld)
		} else {
			unavailable = max(unavailable, on.Unavailable.For)
		}
	}
	r.Sound = sound
	if unavailable <= sound+more {
		return
	}
	r.Longer = unavailable - sound
	r.Problems = append(r.Problems, Problem{Liveness, fmt.Sprintf("unavailable for %v, and a sound Redlock for %v under the same faults%s",
		unavailable.Round(time.Millisecond), sound.Round(time.Millisecond), r.unserved())})
}

// IsExpected says that a run of somebody's lock is held to what its file expects of waits, beside what Redlock shows.
func (r *Result) IsExpected() bool {
	return r.Scenario.Theme == Own && r.Tier != Live && !r.Scenario.Expect.Unavailable.Unbounded
}

// unserved says which calls for the lock never returned, or gave up early; empty if none did.
func (r *Result) unserved() string {
	open, asked := map[int]bool{}, map[int]time.Duration{}
	text := ""
	for i := range r.History {
		e := &r.History[i]
		switch {
		case e.Func != history.Acquire:
		case e.Kind == history.Call:
			open[e.Op], asked[e.Op] = true, time.Duration(e.Time)
		case e.Kind == history.Return:
			if delete(open, e.Op); e.Span > 0 && text == "" {
				waited := time.Duration(e.Time) - asked[e.Op]
				text = fmt.Sprintf("; %s was to wait for %v for %s, and was refused after %v", e.Process, (waited + time.Duration(e.Span)).Round(time.Millisecond),
					e.Resource, waited.Round(time.Millisecond))
			}
		}
	}
	for i := range r.History {
		if e := &r.History[i]; text == "" && e.Kind == history.Call && e.Func == history.Acquire && open[e.Op] {
			text = fmt.Sprintf("; %s, which asked for %s at %v, got no answer", e.Process, e.Resource, asked[e.Op].Round(time.Millisecond))
		}
	}
	return text
}

// allowed are those of the findings that a lock may show which is as sound as one with others. Whether a late write comes
// before or after the next holder's depends on how fast the next one is, and whether somebody takes an unprotected lock does,
// too. Beyond the budget a lease may last longer than its keys.
func (r *Result) allowed(f, others Findings) Findings {
	late := []checker.Kind{checker.StaleWrite, checker.AcceptedAfterExpiry, checker.LostUpdate}
	isLate := func(k checker.Kind) bool { return slices.Contains(late, k) }
	return slices.DeleteFunc(slices.Clone(f), func(k checker.Kind) bool {
		collides := isLate(k) || k == checker.LeaseOverlap
		return k.Defect() && !slices.Contains(others, k) && !(k == checker.Contract && r.Excused(k)) && !(isLate(k) && slices.ContainsFunc(others, isLate)) &&
			!(collides && slices.Contains(others, checker.Unprotected))
	})
}

// Makes says whether its clients can make steps of this kind: all of them if f is nil, or if nobody knows better.
func (f *Foreign) Makes(kind StepKind) bool {
	if f == nil || f.Unable == nil {
		return true
	}
	s := Default()
	s.Timeline = []Item{{Do: []Step{{Kind: kind}}}}
	return f.Unable(&s) == nil
}
