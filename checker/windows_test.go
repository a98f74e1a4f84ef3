package checker

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"redlocksim/sim/history"
)

// A grant's windows are the stretches of the history after whose events its client believes in it, by definition.
func TestWindowsAsByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := lockHistories(false).Draw(t, "history")
		end := Instant(h[len(h)-1].Time + 1000)
		got, err := Windows(h, Options{End: end})
		if err != nil {
			t.Fatal(err)
		}
		var want []Window
		for op := 1; op <= len(h); op++ {
			call, ok := calls(h)[op]
			if !ok || call.Func != history.Acquire {
				continue
			}
			open := -1
			for i := range h {
				switch is := believes(h[:i+1], op); {
				case is && open < 0:
					open = len(want)
					want = append(want, Window{Process: call.Process, Grant: op, FromSeq: i + 1, From: Instant(h[i].Time), To: end})
				case !is && open >= 0:
					want[open].ToSeq, want[open].To = i+1, Instant(h[i].Time)
					open = -1
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v, by definition %+v", got, want)
		}
	})
}

func TestWindowsOfWhatIsNoHistory(t *testing.T) {
	if windows, err := Windows(nil, Options{}); windows != nil || err != nil {
		t.Errorf("of nothing: %v, %v", windows, err)
	}
	if _, err := Windows(script(t, "c1 acquire 1; ok 1; ok 1"), Options{}); !errors.Is(err, ErrMalformed) {
		t.Errorf("two returns: %v", err)
	}
}
