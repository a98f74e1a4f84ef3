package scenarios_test

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
)

// A client can crash and be paused at each step of the library, whatever it is about to do, and leaves a history that makes
// sense.
func TestStoppedAtEveryStep(t *testing.T) {
	do := []scenarios.Step{{Kind: scenarios.LockStep, For: time.Minute}, {Kind: scenarios.RenewStep, For: 3 * time.Second}, {Kind: scenarios.ExtendStep, For: 2 * time.Second},
		{Kind: scenarios.UpdateStep}, {Kind: scenarios.UnlockStep}}
	injected := map[string]bool{}
	for _, step := range observe.Steps() {
		for nth := 1; nth <= 3; nth++ {
			for _, fault := range []faults.Fault{&faults.Crash{Client: "a"}, &faults.Pause{Process: "a", For: 3 * time.Second}} {
				s := scenarios.Default()
				s.Lock.TTL, s.Clients, s.Duration = 2*time.Second, []string{"a", "b"}, 20*time.Second
				s.Timeline = []scenarios.Item{{Client: "a", Do: do, Repeat: 2}, {Client: "b", Do: do, Repeat: 2},
					{When: faults.Trigger{After: &faults.Moment{Event: step.String(), Client: "a", Nth: nth}}, Fault: fault}}
				out := scenariotest.Ran(t, &s, scenarios.Options{})
				if len(out.NotInjected) == 0 {
					injected[step.String()] = true
				}
				report, err := checker.Check(out.History, checker.Options{End: checker.Instant(s.Duration)})
				if err != nil {
					t.Errorf("%T at %v, time %d: %v", fault, step, nth, err)
				}
				for _, f := range report.Findings {
					if f.Kind.Violation() && f.Kind != checker.StaleWrite { // nothing was promised of pauses
						t.Errorf("%T at %v, time %d: %s", fault, step, nth, f.Text)
					}
				}
			}
		}
	}
	if len(injected) < 12 {
		t.Errorf("only %v had a fault injected", injected)
	}
}
