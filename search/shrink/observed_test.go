package shrink

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/scenarios"
	"redlocksim/sim/history"
)

// TestObserved: what is repeated, or waits for the nth event, is placed where the run shows it, if that is all that matters.
func TestObserved(t *testing.T) {
	start := parse(t, head+`clients: [client-2]
timeline:
  - {at: 0s, client: client-2, do: [{sleep: 700ms}, lock: 5ms, unlock], repeat: 30, goroutines: 2}
  - {after: {event: acquire-done, nth: 9}, fault: {evict: {node: A}}}
`+tail)
	ran := history.History{
		{Kind: history.Call, Func: history.Acquire, Process: "client-2", Time: int64(3 * time.Second)},
		{Kind: history.Call, Func: history.Acquire, Process: "client-2", Time: int64(7 * time.Second)},
		{Kind: history.Fault, Name: "evict", Time: int64(8 * time.Second)},
		{Kind: history.Call, Func: history.Acquire, Process: "client-2", Time: int64(9 * time.Second)},
	}
	watched := func(*scenarios.Scenario) (history.History, error) { return ran, nil }
	// A program at 7 s, which has the time that it takes, and a fault at 8 s, or what was there to begin with.
	broken := func(s *scenarios.Scenario) (bool, error) {
		program := slices.ContainsFunc(s.Timeline, func(i scenarios.Item) bool {
			return i.Fault == nil && len(i.Do) > 0 && (i.Repeat == 30 && i.Goroutines == 2 ||
				i.Repeat == 1 && i.Goroutines == 0 && i.When.At == 7*time.Second && i.Do[0].Kind == scenarios.LockStep && i.Do[0].For == usualWait)
		})
		fault := slices.ContainsFunc(s.Timeline, func(i scenarios.Item) bool {
			return i.Fault != nil && (i.When.After != nil && i.When.After.Nth == 9 || i.When.At == 8*time.Second)
		})
		return program && fault, nil
	}
	small, _, err := minimize(context.Background(), start, nil, broken, watched, enough)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"- {at: 7s, client: client-1, do: [lock]}", "- {at: 8s, fault: {evict: {node: A}}}"} {
		if got := text(t, small); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
