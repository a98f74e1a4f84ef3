// Package testbed is what a run on tier live runs on: server processes, client processes, the proxies between them, and the
// ground on which faults are injected into them.
package testbed

import "errors"

// What errors.Is finds in the errors of this package.
var (
	// ErrUnfit: a fault cannot be injected into real processes.
	ErrUnfit = errors.New("cannot be shown on tier live")
	// ErrNonsense: a lock program did what none may.
	ErrNonsense = errors.New("the lock program")
)
