package scenarios_test

import (
	"testing"
	"time"

	"redlocksim/scenarios"
)

// On the schedule in which the formulas are tight the search must agree with them to the millisecond.
func TestSmallestFaultIsTheFormulas(t *testing.T) {
	for name, want := range map[string]scenarios.Smallest{
		"boundaries/clock-step-breaks": {Fault: "clock-step", Breaks: 9001 * time.Millisecond, Holds: 9000 * time.Millisecond,
			Formula: 9001 * time.Millisecond, Confirmed: true},
		"boundaries/restart-delay-breaks": {Fault: "kill", Breaks: 8897 * time.Millisecond, Holds: 8898 * time.Millisecond,
			Formula: 8898 * time.Millisecond, Confirmed: true},
		"boundaries/pause-breaks": {Fault: "pause", Breaks: 10002 * time.Millisecond, Holds: 10001 * time.Millisecond, Confirmed: true},
	} {
		r, err := scenarios.Verify(byName(t, name), scenarios.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Smallest) != 1 {
			t.Errorf("%s: %+v", name, r.Smallest)
			continue
		}
		got := r.Smallest[0]
		if got.Knob == "" || (got.Why == "") != (want.Formula == 0) {
			t.Errorf("%s: %+v", name, got)
		}
		if got.Knob, got.Why = "", ""; got != want {
			t.Errorf("%s: found %+v, want %+v", name, got, want)
		}
	}
}
