package shrink

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/search"
)

// jump is a node whose clock jumps by just too much, with an item that never comes to pass.
func jump(t *testing.T, budget string) *scenarios.Scenario {
	return parse(t, head+tail+fmt.Sprintf(`
clients: [client-1, client-2]
nodes: {names: [A, B, C]}
lock: {drift: {factor: 1.00%%}}
budget: {clock-step: %s}
duration: 30s
timeline:
  - {at: 0s, fault: {partition: {clients: [client-1], nodes: [C], direction: requests}}}
  - {at: 0s, client: client-1, do: [try-lock, hold: 8s, unlock]}
  - {at: 1s, fault: {clock-step: {process: B, by: 8950ms}}}
  - {at: 1500ms, client: client-2, do: [try-lock, hold: 1s, unlock]}
  - {after: {client: client-2, event: acquire-done, nth: 9}, fault: {pause: {process: client-1, for: 1s}}}
`, budget))
}

// What is within the budget stays there: 9 s is a rounder number than 8.95 s and worse, and no more than the budget if that
// is 10 s. What is beyond it may be shrunk to what is not.
func TestShrinkStaysWithinTheBudget(t *testing.T) {
	for _, c := range []struct {
		budget       string
		beyond, want bool
	}{{"8950ms", false, false}, {"10s", false, false}, {"1s", true, true}, {"10s", true, false}} {
		s := jump(t, c.budget)
		items := len(s.Timeline)
		f, done, err := Finding(t.Context(), search.Violation{Scenario: s, Kind: checker.LeaseOverlap, Beyond: c.beyond}, 400)
		if err != nil || !done || f.Beyond != c.want || f.Faults != 2 || f.Kind != checker.LeaseOverlap || !slices.Equal(f.Families, []string{"clock-step-of-node", "partition"}) {
			t.Errorf("budget %s, beyond is %v: %v, done is %v, %+v", c.budget, c.beyond, err, done, f)
		}
		if len(s.Timeline) != items {
			t.Error("the scenario has changed")
		}
	}
	// Nothing is left to the passes of shrinking: what was not injected is taken out before.
	if f, done, err := Finding(t.Context(), search.Violation{Scenario: jump(t, "10s"), Kind: checker.LeaseOverlap}, 1); err != nil || !done || f.Faults != 2 {
		t.Errorf("with a single run: %v, done is %v, %+v", err, done, f)
	}
}

// A finding says how much happened in the run in which it was found, and that is more than what happens in its own.
func TestEventsBefore(t *testing.T) {
	whole := scenariotest.Judged(t, jump(t, "10s"), scenarios.Options{})
	f, done, err := Finding(t.Context(), search.Violation{Scenario: jump(t, "10s"), Kind: checker.LeaseOverlap}, 400)
	if before := search.Events(whole.History); err != nil || !done || f.EventsBefore != before || f.Events >= before {
		t.Errorf("%d events before and %d after, want %d and fewer: %v", f.EventsBefore, f.Events, before, err)
	}
}

func TestShrinkIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fmt.Errorf("enough"))
	if f, done, err := Finding(ctx, search.Violation{Scenario: jump(t, "10s"), Kind: checker.LeaseOverlap}, 400); err != nil || done {
		t.Errorf("%v, done is %v, %+v", err, done, f)
	}
}
