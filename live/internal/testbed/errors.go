// Package testbed is what a run on tier live runs on: server processes, client processes, the proxies between them, and the
// ground on which faults are injected into them.
package testbed

import "fmt"

// nonsense is what the lock program of a client did that none may. It ends the run.
type nonsense struct{ client, what string }

func (n *nonsense) Error() string { return fmt.Sprintf("the lock program of %s: %s", n.client, n.what) }

// OfProgram is for scenarios.EndedByProgram.
func (n *nonsense) OfProgram() {}
