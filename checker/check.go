// Package checker decides from the history of a run whether mutual exclusion held, at the lock and at the resource that it
// guards. It also measures how long the lock was unavailable and how long clients waited for it.
//
// Start at [Check]. It looks only at what clients were told and what reached the resource, never into nodes, so it serves for
// any lock whose runs are recorded as a [history.History].
package checker

import (
	"errors"
	"fmt"

	"redlocksim/sim/history"
)

// Check judges h. A history that shows violations is not an error: they are the report's findings.
//
// Holds, lost updates and effects are checked directly; porcupine checks holds once more, from the same events.
// Check takes O(n log n), O(n) for each takeover, each grant of a semaphore and each process that waits, and what porcupine
// takes within its bounds.
// Equal arguments give equal reports.
//
// Effects are those of the operation in their Op. One where it is zero is of an operation that was not recorded.
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
	t, err := transcribe(h, o.End)
	if err != nil {
		return Report{}, err
	}
	var r Report
	if err := r.addLeases(t, o); err != nil {
		return Report{}, err
	}
	if err := r.addUpdates(t); err != nil {
		return Report{}, err
	}
	r.Findings = append(r.Findings, tooLittle(t, o)...)
	r.settle()
	r.addResources(t, o)
	return r, nil
}

// addLeases reports what the believed windows show.
func (r *Report) addLeases(t *transcript, o Options) error {
	l := believe(t)
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
	efforts, asked, holds := t.efforts(), askings(t), believe(t).holds
	healed, stops := t.healed(), t.stops(o)
	for _, name := range t.resources {
		e, waits, used := efforts[name], asked[name], criticalSections(t, holds[name], stops)
		m := Resource{Name: name, Grants: e.grants, Clients: e.clients, Unavailable: unavailable(t, waits, used),
			Unheld: unavailable(t, waits, holds[name]).For, Takeover: longestTakeover(t, waits, used),
			AfterHealing: slowestRecovery(t, waits, healed)}
		m.addService(t, waits, used, o.Reentrant)
		r.Grants += e.grants
		r.Resources = append(r.Resources, m)
	}
}

// Options say how a history is to be judged. In the zero value no fault keeps a client from releasing.
type Options struct {
	// Reentrant: grants of one process on one resource may overlap, and count as one hold.
	Reentrant bool
	// Semaphores are locks that several may hold at a time: their permits are resources, and so is a semaphore whose holders
	// do not say which permit they have.
	Semaphores []Semaphore
	// MinGrants is how many acquires must have succeeded, and MinClients how many processes must have called acquire on the
	// same resource, for the run to count as a test. Zero means 1 and 2, negative no minimum.
	MinGrants, MinClients int
	// End is when the run ended, if that is later than its last event. A process that still asks or holds then did so until
	// End.
	End Instant
	// Stopping are the names of the faults that keep the process they affect from ending its critical sections.
	Stopping []string
	// MaxOperations is the most operations on a resource that porcupine is given: its memory grows with their square. Beyond
	// it only the direct checks run, and Report.Unchecked says so. Zero means [maxOperations], negative that porcupine
	// does not run.
	MaxOperations int
}

// maxOperations lets porcupine use some 3 MB on a resource that it judges without backtracking, and 60 MB before it
// gives up.
const maxOperations = 5000

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
