package checker

import (
	"slices"
	"time"
)

// Options say how a history is to be judged. The zero value is right for a run of this simulator.
type Options struct {
	// Reentrant: grants of one process on one resource may overlap, and count as one hold.
	Reentrant bool
	// Semaphores are locks that several may hold at a time: their permits are resources, and so is a semaphore whose holders
	// do not say which permit they have.
	Semaphores []Semaphore
	// MinGrants is how many acquires must have succeeded, and MinClients how many processes must have called acquire on the
	// same resource, for the run to count as a test. Zero means 1 and 2, negative no minimum.
	MinGrants, MinClients int
	// Unlocked: writes under no grant are made without the lock, and not only recorded so. A history with one while another
	// process holds the lock is refused otherwise.
	Unlocked bool
	// End is when the run ended, if that is later than its last event. A process that still asks or holds then did so until
	// End.
	End Instant
	// RetryGap is the longest pause between two acquires of a process on a resource during which it still counts as asking.
	// Zero: it asks only between call and return. There is no gap if another asks at the very time at which one stops.
	RetryGap time.Duration
	// Stopping are the names of the faults that keep the process they affect from ending its critical sections. Nil
	// means pause and cut-off.
	Stopping []string
	// MaxOperations is the most operations on a resource that porcupine is given: its memory grows with their square. Beyond
	// it only the direct checks run, and Report.Unchecked says so. Zero means [DefaultMaxOperations], negative that porcupine
	// does not run.
	MaxOperations int
}

// isPermits says whether a resource is a semaphore, which several may hold.
func (o *Options) isPermits(resource string) bool {
	return slices.ContainsFunc(o.Semaphores, func(s Semaphore) bool { return s.Name == resource })
}

// DefaultMaxOperations lets porcupine use some 3 MB on a resource that it judges without backtracking, and 60 MB before it
// gives up.
const DefaultMaxOperations = 5000
