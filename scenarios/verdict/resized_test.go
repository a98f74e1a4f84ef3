package verdict

import (
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// A crash for good has no size, and stays as it is beside one that has.
func TestFaultsWithoutASizeStay(t *testing.T) {
	item := func(after *time.Duration) scenarios.Item {
		return scenarios.Item{Kind: "crash", Fault: &faults.Crash{Client: "client-1", RestartAfter: after}}
	}
	s := &scenarios.Scenario{Timeline: []scenarios.Item{item(new(time.Second)), item(nil)}}
	got := resized(s, "crash", time.Minute).Timeline
	of := func(i int) *time.Duration { return got[i].Fault.(*faults.Crash).RestartAfter }
	if of(0) == nil || *of(0) != time.Minute || of(1) != nil {
		t.Errorf("restarts after %v and %v, want a minute and never", of(0), of(1))
	}
}
