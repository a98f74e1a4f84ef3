package scenarios

import (
	"testing"
	"time"

	"redlocksim/faults"
)

// On schedules in which arithmetic is tight the search must agree with it to the millisecond: a step that ends the TTL that is
// left and Redis' own millisecond, a restart that comes with the end of the lease, and a pause that outlasts it.
func TestSmallestFaultIsTheArithmetics(t *testing.T) {
	for name, want := range map[string]Smallest{
		"boundaries/clock-step-breaks":    {Fault: "clock-step", Breaks: 9001 * time.Millisecond, Holds: 9000 * time.Millisecond, Confirmed: true},
		"boundaries/restart-delay-breaks": {Fault: "kill", Breaks: 8897 * time.Millisecond, Holds: 8898 * time.Millisecond, Confirmed: true},
		"boundaries/pause-breaks":         {Fault: "pause", Breaks: 10002 * time.Millisecond, Holds: 10001 * time.Millisecond, Confirmed: true},
	} {
		r, err := Verify(Named(t, name), Options{})
		if err != nil || len(r.Smallest) != 1 || r.Smallest[0].Knob == "" {
			t.Fatalf("%s: %+v, %v", name, r.Smallest, err)
		}
		want.Knob = r.Smallest[0].Knob
		if got := r.Smallest[0]; got != want {
			t.Errorf("%s: found %+v, want %+v", name, got, want)
		}
	}
}

// What only the rules find has a smallest fault, too. The key, set 1 to 5 ms after the beginning for 10 s, is to be gone just
// before the release at 9.0043 s: a second less is enough.
func TestSmallestFaultOfWhatRulesFind(t *testing.T) {
	r, err := Verify(Given(t, `
claim: unsound
timeline:
  - {at: 0s, client: client-1, do: [try-lock, sleep: 9s, unlock]}
  - {at: 1s, fault: {clock-step: {process: A, by: 20s}}}
  - {at: 1s, fault: {clock-step: {process: B, by: 20s}}}
  - {at: 1s, fault: {clock-step: {process: C, by: 20s}}}`), Options{})
	if err != nil || len(r.Smallest) != 1 || r.Smallest[0].Breaks != time.Second || !r.Smallest[0].Confirmed {
		t.Errorf("%+v, %v", r.Smallest, err)
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
