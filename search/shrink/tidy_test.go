package shrink

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// TestTidy: what is left is in the order of its times, with the names and at the times that it would have alone.
func TestTidy(t *testing.T) {
	start := parse(t, head+`clients: [client-2, client-3, client-7]
nodes: {names: [B, D, E]}
timeline:
  - {at: 9300ms, client: client-3, do: [{with-lock: 1s}]}
  - {at: 9200ms, client: client-7, do: [lock, update]}
  - {at: 9200ms, fault: {partition: {clients: [client-7], nodes: [D]}}}
`+tail)
	// Each locks, client-7 30 to 200 ms before the other, and the second node is cut off from it.
	broken := func(s *scenarios.Scenario) (bool, error) {
		at := map[string]time.Duration{}
		for _, item := range s.Timeline {
			if item.Fault == nil && slices.ContainsFunc(item.Do, func(s scenarios.Step) bool { return s.Kind == scenarios.LockStep || s.Kind == scenarios.WithLockStep }) {
				at[item.Client] = item.When.At
			}
		}
		for _, item := range s.Timeline {
			if f, ok := item.Fault.(*faults.Partition); ok && len(at) == 2 && len(s.Nodes.Names) == 3 && len(f.Clients) == 1 && slices.Equal(f.Nodes, s.Nodes.Names[1:2]) {
				for name, other := range at {
					if name != f.Clients[0] {
						gap := other - at[f.Clients[0]]
						return gap >= 30*time.Millisecond && gap <= 200*time.Millisecond, nil
					}
				}
			}
		}
		return false, nil
	}
	small, _, err := minimize(context.Background(), start, nil, broken, nil, enough)
	if err != nil {
		t.Fatal(err)
	}
	const want = `nodes: {names: [A, B, C]}
clients: [client-1, client-2]
network: {latency: 0s}
timeline:
  - {at: 0s, client: client-1, do: [lock]}
  - {at: 0s, fault: {partition: {clients: [client-1], nodes: [B]}}}
  - {at: 30ms, client: client-2, do: [lock]}
`
	if got := text(t, small); !strings.Contains(got, want) {
		t.Errorf("no\n%s in\n%s", want, got)
	}
}

// TestPlainTimes: a program starts later in the place of a sleep, and two times are the same that need not differ.
func TestPlainTimes(t *testing.T) {
	start := parse(t, head+`clients: [client-1, client-2]
timeline:
  - {at: 0s, client: client-1, do: [{sleep: 1234ms}, lock]}
  - {at: 1765ms, client: client-2, do: [lock]}
`+tail)
	broken := func(s *scenarios.Scenario) (bool, error) {
		begins := map[string]time.Duration{}
		for _, item := range s.Timeline {
			at := item.When.At
			for _, step := range item.Do {
				if step.Kind == scenarios.LockStep {
					begins[item.Client] = at
				}
				if step.Kind == scenarios.SleepStep {
					at += step.For
				}
			}
		}
		return begins["client-1"] >= time.Second && begins["client-2"] > 1500*time.Millisecond, nil
	}
	small, _, err := minimize(context.Background(), start, nil, broken, nil, enough)
	if err != nil {
		t.Fatal(err)
	}
	const want = `timeline:
  - {at: 2s, client: client-1, do: [lock]}
  - {at: 2s, client: client-2, do: [lock]}
`
	if got := text(t, small); !strings.Contains(got, want) {
		t.Errorf("no\n%s in\n%s", want, got)
	}
}
