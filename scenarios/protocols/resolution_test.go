package protocols

import (
	"testing"
	"time"
)

// A clock that is read in whole seconds does not see what happens within one.
func TestElapsedInUnitsOfTheClock(t *testing.T) {
	for _, test := range []struct{ unit, from, to, want time.Duration }{
		{0, 100 * time.Millisecond, 950 * time.Millisecond, 850 * time.Millisecond},
		{time.Second, 100 * time.Millisecond, 950 * time.Millisecond, 0},
		{time.Second, 950 * time.Millisecond, 1050 * time.Millisecond, time.Second},
	} {
		x, zero := &redlockPlain{own: RedlockPlainSettings{Resolution: test.unit}}, time.Unix(0, 0)
		if got := x.elapsed(zero.Add(test.from), zero.Add(test.to)); got != test.want {
			t.Errorf("from %v to %v in units of %v: %v, want %v", test.from, test.to, test.unit, got, test.want)
		}
	}
}
