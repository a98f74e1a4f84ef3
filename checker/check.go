// Package checker decides from the history of a run whether mutual exclusion held, at the lock and at the resource that it
// guards. It also measures how long the lock was unavailable and how long clients waited for it.
//
// Start at [Check]. It looks only at what clients were told and what reached the resource, never into nodes, so it serves for
// any lock whose runs are recorded as a [history.History].
package checker

import (
	"slices"

	"redlocksim/sim/history"
)

// Check judges h. A history that shows violations is not an error: they are the report's findings.
//
// Holds, lost updates and effects are checked directly; porcupine checks holds once more, from the same events.
// Check takes O(n log n), O(n) for each takeover and each grant of a semaphore, and what porcupine takes within its bounds.
// Equal arguments give equal reports.
//
// Effects are matched to the operation in their Op; where it is zero, by process, grant and number, which is ambiguous if
// a client has several of the same under way.
//
// It returns a [*history.InvalidError] if h is not a history, and a [*DisagreeError] if the two checks differ. An empty
// history is not tested.
func Check(h history.History, o Options) (Report, error) {
	if len(h) == 0 {
		return Report{Findings: tooLittle(&transcript{}, o)}, nil
	}
	if err := h.Validate(); err != nil {
		return Report{}, err
	}
	t, err := transcribe(whole(h), o.End)
	if err != nil {
		return Report{}, err
	}
	var r Report
	if err := r.addSafety(t, o); err != nil {
		return Report{}, err
	}
	r.addResources(t, o)
	return r, nil
}

// Check judges safety as [Check] does, with the same findings and errors, and the same questions unchecked. Of resources
// it counts grants and clients, and measures no time.
func (l *Log) Check(o Options) (Report, error) {
	t, err := transcribe(l, o.End)
	if err != nil {
		return Report{}, err
	}
	var r Report
	if err := r.addSafety(t, o); err != nil {
		return Report{}, err
	}
	efforts := t.efforts()
	for _, name := range t.resources {
		e := efforts[name]
		r.Grants += e.grants
		r.Resources = append(r.Resources, Resource{Name: name, Grants: e.grants, Clients: e.clients})
	}
	return r, nil
}

// addSafety reports what breaks a rule, and whether too little happened.
func (r *Report) addSafety(t *transcript, o Options) error {
	if err := r.addLeases(t, o); err != nil {
		return err
	}
	if err := r.addUpdates(t); err != nil {
		return err
	}
	r.Findings = append(r.Findings, tooLittle(t, o)...)
	r.settle()
	return nil
}

// addLeases reports what the believed windows show.
func (r *Report) addLeases(t *transcript, o Options) error {
	l := believe(t)
	if !o.Unlocked {
		if err := t.trespass(l); err != nil {
			return err
		}
	}
	if err := r.addHolds(t, l, o); err != nil {
		return err
	}
	r.Compared.Contested = l.contested(t)
	r.addEffects(t, l)
	r.addTokens(t, l)
	return nil
}

// addResources measures what clients got of each resource, and how long they waited.
func (r *Report) addResources(t *transcript, o Options) {
	efforts, asked, used := t.efforts(), askings(t, o), criticalSections(t, o)
	granted, healed, holds := t.grants(), t.healed(), believe(t).holds
	for _, name := range t.resources {
		e, waits, uses := efforts[name], asked[name], used[name]
		again := reentries(uses, o)
		m := Resource{Name: name, Grants: e.grants, Clients: e.clients, Unavailable: unavailable(t, waits, uses, granted[name]),
			Takeover: longestTakeover(t, waits, uses), Attempts: mostAttempts(t, waits),
			Fairness: jain(waits, again), AfterHealing: slowestRecovery(t, waits, healed)}
		m.Unheld = unavailable(t, waits, slices.Concat(uses, usesOf(holds[name])), granted[name]).For
		m.Bypass, m.Overtakes = bypasses(t, waits, again)
		r.Grants += e.grants
		r.Resources = append(r.Resources, m)
	}
}
