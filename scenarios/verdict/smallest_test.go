package verdict_test

import (
	"testing"
	"time"

	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
)

// On schedules in which arithmetic is tight the search must agree with it to the millisecond: a step that ends the TTL that is
// left and Redis' own millisecond, a restart that comes with the end of the lease, and a pause that outlasts it.
func TestSmallestFaultIsTheArithmetics(t *testing.T) {
	for name, want := range map[string]verdict.Smallest{
		"boundaries/clock-step-breaks":    {Fault: "clock-step", Breaks: 9001 * time.Millisecond, Holds: 9000 * time.Millisecond, Confirmed: true},
		"boundaries/restart-delay-breaks": {Fault: "kill", Breaks: 8897 * time.Millisecond, Holds: 8898 * time.Millisecond, Confirmed: true},
		"boundaries/pause-breaks":         {Fault: "pause", Breaks: 10002 * time.Millisecond, Holds: 10001 * time.Millisecond, Confirmed: true},
	} {
		r, err := verdict.Verify(scenariotest.Named(t, name), scenarios.Options{})
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
	r, err := verdict.Verify(scenariotest.Given(t, `
claim: unsound
timeline:
  - {at: 0s, client: client-1, do: [try-lock, sleep: 9s, unlock]}
  - {at: 1s, fault: {clock-step: {process: A, by: 20s}}}
  - {at: 1s, fault: {clock-step: {process: B, by: 20s}}}
  - {at: 1s, fault: {clock-step: {process: C, by: 20s}}}`), scenarios.Options{})
	if err != nil || len(r.Smallest) != 1 || r.Smallest[0].Breaks != time.Second || !r.Smallest[0].Confirmed {
		t.Errorf("%+v, %v", r.Smallest, err)
	}
}
