package advise

import (
	"fmt"
	"time"

	"redlocksim/internal/rounded"
)

// share is a part of one, and atMost a time that something lasts at most.
type (
	share  float64
	atMost time.Duration
)

// computed and simulated say what a cost is: with six digits and to the microsecond, and to three digits for people.
func (c *Cost) computed(format string, args ...any) {
	c.Computed, c.computedShort = figures(format, args)
}

func (c *Cost) simulated(format string, args ...any) {
	c.Simulated, c.simulatedShort = figures(format, args)
}

// figures is a text with exact figures and with short ones.
func figures(format string, args []any) (exact, short string) {
	var exactly, shortly []any
	for _, arg := range args {
		var e, s any = arg, arg
		switch n := arg.(type) {
		case share:
			e, s = fmt.Sprintf("%.6f", float64(n)), fmt.Sprintf("%.3g", float64(n))
		case atMost:
			e, s = time.Duration(n).Round(time.Microsecond), rounded.Up(time.Duration(n))
		case time.Duration:
			e, s = n.Round(time.Microsecond), rounded.Duration(n)
		}
		exactly, shortly = append(exactly, e), append(shortly, s)
	}
	return fmt.Sprintf(format, exactly...), fmt.Sprintf(format, shortly...)
}
