// Package checker decides from the history of a run whether mutual exclusion held, at the lock and at the resource that it
// guards. It also measures how long the lock was unavailable and how long clients waited for it.
//
// Start at [Check]. It looks only at what clients were told and what reached the resource, never into nodes, so it serves for
// any lock whose runs are recorded as a [history.History].
package checker

import (
	"errors"
	"fmt"
	"time"

	"redlocksim/history"
)

// What an error of [Check] can be matched against with errors.Is.
var (
	// ErrMalformed: the events contradict each other, as a return without a call does. The error is a
	// [*history.InvalidError] and names the event. Events that are not valid one by one give the errors of
	// [history.History.Validate].
	ErrMalformed = errors.New("malformed history")
	// ErrDisagree: two ways to answer the same question gave different answers. It is a defect of this package, whatever
	// the history; the error is a [*DisagreeError].
	ErrDisagree = errors.New("checkers disagree")
)

// DisagreeError says on which question the checkers disagree. It matches [ErrDisagree].
type DisagreeError struct {
	Kind     Kind // what one found and the other did not
	Resource string
	// Direct and Linearizable say whether the direct check and porcupine found a violation. Never equal.
	Direct, Linearizable bool
}

func (e *DisagreeError) Error() string {
	return fmt.Sprintf("checker: %v about %s on %q: direct check %t, porcupine %t; report it with the history",
		ErrDisagree, e.Kind, e.Resource, e.Direct, e.Linearizable)
}

// Unwrap gives ErrDisagree.
func (e *DisagreeError) Unwrap() error { return ErrDisagree }

// Options say how a history is to be judged. The zero value is right for a run of this simulator.
type Options struct {
	// Reentrant: grants of one process on one resource may overlap, and count as one hold.
	Reentrant bool
	// MinGrants is how many acquires must have succeeded, and MinClients how many processes must have called acquire on the
	// same resource, for the run to count as a test. Zero means 1 and 2, negative no minimum.
	MinGrants, MinClients int
	// End is when the run ended, if that is later than its last event. A process that still asks or holds then did so until
	// End.
	End Instant
	// RetryGap is the longest pause between two acquires of a process on a resource during which it still counts as asking.
	// Zero: it asks only between call and return. There is no gap if another asks at the very time at which one stops.
	RetryGap time.Duration
	// Stopping are the names of the faults that keep the process they affect from ending its critical sections. Nil
	// means pause and cut-off.
	Stopping []string
	// Initial is the number every resource holds at the start.
	Initial int64
	// MaxOperations is the most operations on a resource that porcupine is given: its memory grows with their square. Beyond
	// it only the direct checks run, and Report.Unchecked says so. Zero means [DefaultMaxOperations], negative that porcupine
	// does not run.
	MaxOperations int
}

// DefaultMaxOperations lets porcupine use some 3 MB on a resource that it judges without backtracking, and 60 MB before it
// gives up.
const DefaultMaxOperations = 5000

// Check judges h. A history that shows violations is not an error: they are the report's findings.
//
// Holds, lost updates and effects are checked directly; porcupine checks holds and updates once more, from the same events.
// Check takes O(n log n), O(n) for each takeover, and what porcupine takes within its bounds. Equal arguments give equal
// reports.
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
	t, err := transcribe(memory(h), o.End)
	if err != nil {
		return Report{}, err
	}
	t.events = h
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
	if err := r.addUpdates(t, o); err != nil {
		return err
	}
	r.Findings = append(r.Findings, tooLittle(t, o)...)
	r.sort()
	return nil
}

// addLeases reports what the believed windows show.
func (r *Report) addLeases(t *transcript, o Options) error {
	l := believe(t)
	if err := t.trespass(l); err != nil {
		return err
	}
	if err := r.addHolds(t, l, o); err != nil {
		return err
	}
	r.addEffects(t, l)
	r.addTokens(t, l)
	return nil
}
