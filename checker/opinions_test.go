package checker

import (
	"errors"
	"slices"
	"testing"

	"redlocksim/sim/history"
)

// The direct check and porcupine find the windows in the events each for itself: if one loses some, the other says so.
func TestEachCheckFindsTheOtherOut(t *testing.T) {
	h := script(t, "c1 acquire 1; ok 1; c2 acquire 2; ok 2; c1 release 3 of 1; ok 3; c2 release 4 of 2; ok 4")
	for what, spoil := range map[string]func(l *leases, t *transcript) *transcript{
		"nothing": func(_ *leases, t *transcript) *transcript { return t },
		"the direct check loses the holds": func(l *leases, t *transcript) *transcript {
			l.holds = map[string][]hold{}
			return t
		},
		"porcupine does not see the second grant": func(_ *leases, t *transcript) *transcript {
			other := *t
			other.ops = slices.Clone(t.ops)
			other.ops[2].outcome = history.Failed
			return &other
		},
	} {
		tr, err := transcribe(h, 0)
		if err != nil {
			t.Fatal(err)
		}
		l := believe(tr)
		var r Report
		err = r.addHolds(spoil(l, tr), l, Options{})
		if got, want := errors.Is(err, ErrDisagree), what != "nothing"; got != want {
			t.Errorf("%s: %v", what, err)
		}
	}
}
