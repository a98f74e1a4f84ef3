package dpor

import "testing"

// The first violation is told of, unless faults excuse it and not a later one.
func TestTheFirstThatNothingExcusesIsToldOf(t *testing.T) {
	counts, excused := &Run{}, &Run{Excused: true}
	for _, c := range []struct {
		first, r *Run
		want     bool
	}{{nil, excused, true}, {nil, counts, true}, {excused, counts, true}, {excused, excused, false}, {counts, excused, false}, {counts, counts, false}} {
		if got := c.r.goesBefore(c.first); got != c.want {
			t.Errorf("%+v after %+v: %v, want %v", c.r, c.first, got, c.want)
		}
	}
}
