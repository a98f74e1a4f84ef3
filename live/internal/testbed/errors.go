// Package testbed is what a run on tier live runs on: server processes, client processes, the proxies between them, and the
// ground on which faults are injected into them.
package testbed

import (
	"errors"
	"fmt"
)

// What errors.Is finds in the errors of this package.
var (
	// ErrUnfit: a fault cannot be injected into real processes.
	ErrUnfit = errors.New("cannot be shown on tier live")
	// ErrNonsense: a lock program did what none may.
	ErrNonsense = errors.New("the lock program")
	// ErrNoServer: the server that the nodes run is not on this machine.
	ErrNoServer = errors.New("the server is not installed")
)

// noServer is the error of a server that is not on this machine. It matches ErrNoServer.
type noServer string

func (n noServer) Error() string        { return fmt.Sprintf("there is no %s on this machine", string(n)) }
func (n noServer) Is(target error) bool { return target == ErrNoServer }
