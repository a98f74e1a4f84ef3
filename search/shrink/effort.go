package shrink

import "redlocksim/scenarios"

// effort is how much a step does: one operation, or a series of them.
func effort(kind scenarios.StepKind) int {
	switch kind {
	case scenarios.WithAllStep:
		return 8 // as with-lock, for several permits
	case scenarios.WithLockStep:
		return 4 // acquire, read, write, release
	case scenarios.UpdateStep:
		return 2 // read, write
	}
	return 1
}
