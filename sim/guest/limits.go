package guest

import "cmp"

// Limits are what a guest may use of the machine that the simulator runs on. A field that is zero has the default.
type Limits struct {
	// Memory is in bytes, rounded down to pages of 64 KiB.
	Memory int
	// Output is how many bytes a guest may write to its standard output, and to its standard error.
	Output int
	// Turns is how many turns of loops and calls of functions a guest may make in all, so that one which never waits ends. In
	// long functions each counts for several, and what a guest asks for counts for many.
	Turns int
}

// The defaults of Limits.
const (
	DefaultMemory = 128 << 20
	DefaultOutput = 64 << 20
	DefaultTurns  = 20_000_000_000 // a minute or so
)

// turnsPerCall is how many turns a guest is charged for whatever it asks for: that takes about as long.
const turnsPerCall = 1000

// page is the unit of a guest's memory.
const page = 64 << 10

func (l Limits) withDefaults() Limits {
	return Limits{Memory: cmp.Or(l.Memory, DefaultMemory), Output: cmp.Or(l.Output, DefaultOutput), Turns: cmp.Or(l.Turns, DefaultTurns)}
}
