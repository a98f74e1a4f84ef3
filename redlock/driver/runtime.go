package driver

import (
	"crypto/rand"
	"io"
)

// Runtime is what a client runs on. A nil field stands for that of the operating system: a program sets none of them, a
// simulator all.
type Runtime struct {
	Clock Clock     // SystemClock
	Tasks Tasks     // SystemTasks
	Rand  io.Reader // of lock values and delays: crypto/rand. Safe for concurrent use; values that repeat break the lock
}

// Filled is the Runtime with the system's in the place of each nil field.
func (r Runtime) Filled() Runtime {
	if r.Clock == nil {
		r.Clock = SystemClock()
	}
	if r.Tasks == nil {
		r.Tasks = SystemTasks()
	}
	if r.Rand == nil {
		r.Rand = rand.Reader
	}
	return r
}
