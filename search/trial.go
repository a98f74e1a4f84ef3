package search

import (
	"slices"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
)

// Trial is what one run of an experiment showed.
type Trial struct {
	// Kinds are those of what no lock should show: what breaks mutual exclusion, and what keeps others from the lock without
	// need, in the checker's order.
	Kinds []checker.Kind
	// Families are the families of faults of an experiment that violates something.
	Families []string
	// Beyond says that the faults exceeded the budget, and Excused are those of Kinds that they excuse then.
	Beyond  bool
	Excused []checker.Kind
	// NotTested says that too little happened for the run to say anything, as without two clients that ask.
	NotTested bool
	// Reached is what the run reached, and Run which faults and moments it had.
	Reached reach.Set
	Run     *reach.Run
}

// Within says that the run violates something within the budget, or what no fault excuses.
func (t *Trial) Within() bool { return len(t.Kinds) > len(t.Excused) }

// Shown is what the run tells of one of its Kinds, with the settings that were drawn for it.
func (t *Trial) Shown(kind checker.Kind, settings []string) Shown {
	excused := slices.Contains(t.Excused, kind)
	return Shown{Kind: kind, Families: t.Families, Settings: settings, Beyond: excused, Despite: t.Beyond && !excused}
}

// Try runs an experiment and judges the run. The history of the result is recorded in the buffer, which is the next run's
// as well.
func Try(s *scenarios.Scenario, o scenarios.Options, buffer *history.History) (Trial, *verdict.Result, error) {
	o.Buffer, o.Unhashed = *buffer, true
	r, err := verdict.Judge(s, o)
	if err != nil {
		return Trial{}, nil, err
	}
	*buffer = r.History
	run := r.Reached()
	t := Trial{Kinds: r.Report.Shows(checker.Kind.Defect), Beyond: r.Beyond != nil, NotTested: r.Report.NotTested() != "", Reached: reach.Of(run),
		Run: &reach.Run{Placed: run.Placed, Injected: run.Injected, Awaited: run.Awaited, Fired: run.Fired, Other: run.Other}}
	for _, kind := range t.Kinds {
		if r.Excused(kind) {
			t.Excused = append(t.Excused, kind)
		}
	}
	if len(t.Kinds) > 0 {
		t.Families = Families(s)
	}
	return t, r, nil
}
