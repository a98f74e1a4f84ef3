package protocols

import (
	"testing"
	"time"

	"redlocksim/redlock/driver"
)

type clockAt struct {
	driver.Clock
	now time.Time
}

func (c *clockAt) Now() time.Time { return c.now }

// A clock that is read in whole seconds does not see what happens within one.
func TestElapsedInUnitsOfTheClock(t *testing.T) {
	for _, test := range []struct{ unit, from, to, want time.Duration }{
		{0, 100 * time.Millisecond, 950 * time.Millisecond, 850 * time.Millisecond},
		{time.Second, 100 * time.Millisecond, 950 * time.Millisecond, 0},
		{time.Second, 950 * time.Millisecond, 1050 * time.Millisecond, time.Second},
	} {
		c := &clockAt{now: time.Unix(0, 0).Add(test.to)}
		x := &redlockPlain{own: RedlockPlainSettings{Resolution: test.unit}, session: session{clock: c}}
		if got := x.elapsed(time.Unix(0, 0).Add(test.from)); got != test.want {
			t.Errorf("from %v to %v in units of %v: %v, want %v", test.from, test.to, test.unit, got, test.want)
		}
	}
}
