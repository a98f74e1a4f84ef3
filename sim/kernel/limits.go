package kernel

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Limits are what one run may use of the machine. A field that is zero has the default.
type Limits struct {
	// Steps is how many steps the kernel may make, and how many events may wait in its queue.
	Steps int
	// Goroutines is how many goroutines, of programs and of the library, there may be at once.
	Goroutines int
}

// The defaults of Limits. The longest scenario that comes with redlocksim makes 58,000 steps; a run that reaches a
// limit, and is judged, stays below 1 GB.
const (
	DefaultMaxSteps      = 2_000_000
	DefaultMaxGoroutines = 20_000
)

func (l Limits) withDefaults() Limits {
	return Limits{Steps: cmp.Or(l.Steps, DefaultMaxSteps), Goroutines: cmp.Or(l.Goroutines, DefaultMaxGoroutines)}
}

// ErrTooLong is what a TooLong matches.
var ErrTooLong = errors.New("the run is too long")

// TooLong is the error that Run panics with when a run goes beyond one of its limits.
type TooLong struct {
	What  string // of what there are too many
	Limit int
	At    True
}

func (t *TooLong) Error() string {
	after := time.Duration(t.At).Round(time.Millisecond)
	return fmt.Sprintf("%v: more than %d %s after %v of true time", ErrTooLong, t.Limit, t.What, after)
}

func (t *TooLong) Unwrap() error { return ErrTooLong }
