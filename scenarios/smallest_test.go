package scenarios

import (
	"testing"
	"time"

	"redlocksim/faults"
)

// On the schedule in which the formulas are tight the search must agree with them to the millisecond.
func TestSmallestFaultIsTheFormulas(t *testing.T) {
	for name, want := range map[string]Smallest{
		"boundaries/clock-step-breaks": {Fault: "clock-step", Breaks: 9001 * time.Millisecond, Holds: 9000 * time.Millisecond,
			Formula: 9001 * time.Millisecond, Confirmed: true},
		"boundaries/restart-delay-breaks": {Fault: "kill", Breaks: 8897 * time.Millisecond, Holds: 8898 * time.Millisecond,
			Formula: 8898 * time.Millisecond, Confirmed: true},
		"boundaries/pause-breaks": {Fault: "pause", Breaks: 10002 * time.Millisecond, Holds: 10001 * time.Millisecond, Confirmed: true},
	} {
		r, err := Verify(Named(t, name), Options{})
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

// A crash for good has no size, and stays as it is beside one that has.
func TestFaultsWithoutASizeStay(t *testing.T) {
	item := func(after *time.Duration) Item {
		return Item{Kind: "crash", Fault: &faults.Crash{Client: "client-1", RestartAfter: after}}
	}
	s := &Scenario{Timeline: []Item{item(new(time.Second)), item(nil)}}
	got := resized(s, "crash", time.Minute).Timeline
	of := func(i int) *time.Duration { return got[i].Fault.(*faults.Crash).RestartAfter }
	if of(0) == nil || *of(0) != time.Minute || of(1) != nil {
		t.Errorf("restarts after %v and %v, want a minute and never", of(0), of(1))
	}
}
