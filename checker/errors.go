package checker

import (
	"errors"
	"fmt"
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
