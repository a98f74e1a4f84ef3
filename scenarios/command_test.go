package scenarios_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/sim/history"
)

// Things happen when a command has just been sent, has arrived, or was answered, on both tiers.
func TestCommandMoments(t *testing.T) {
	const text = `
clients: [client-1, client-2]
nodes: {names: [A, B, C]}
resources: [R, S]
network: {latency: 5ms}
step-time: 1us
timeline:
  - {at: 1s, client: client-1, resource: R, do: [try-lock, sleep: 90ms, extend: 10s, sleep: 90ms, unlock]}
  - {at: 2s, client: client-1, resource: S, do: [try-lock, sleep: 90ms, extend: 10s, sleep: 90ms, unlock]}
  - {at: 3s, fault: {kill: {node: B}}}
  - {at: 3s, client: client-1, resource: R, do: [try-lock, unlock]}
  - {AFTER, fault: {pause: {process: client-2, for: 1us}}}
expect: {findings: safe, unavailable: {at-most: 1s}}
`
	for after, want := range map[string][]int64{
		"after: {event: set-sent, client: client-1}":                              {1000},
		"after: {event: set-arrived}":                                             {1005},
		"after: {event: set-answered}":                                            {1010},
		"after: {event: set-answered, nth: 3}":                                    {1010},
		"after: {event: set-answered, nth: 4}":                                    {2010},
		"after: {event: set-answered, node: B, nth: 2}":                           {2010},
		"after: {event: set-sent, resource: S}":                                   {2000},
		"after: {event: extend-sent}":                                             {1100},
		"after: {event: extend-arrived, node: C}":                                 {1105},
		"after: {event: extend-answered}":                                         {1110},
		"after: {event: delete-sent}":                                             {1200},
		"after: {event: delete-arrived}, plus: 100ms":                             {1305},
		"every: {event: delete-answered, node: A}":                                {1210, 2210, 3020},
		"after: {event: set-broken}":                                              {3010},
		"after: {event: delete-broken, node: B}":                                  {3020},
		"after: {event: set-sent, client: client-2}":                              nil,
		"after: {event: delete-arrived, node: A, nth: 2}, plus: 5ms":              {2210},
		"every: {event: extend-answered, client: client-1, node: C}, plus: 500ms": {1610, 2610},
	} {
		s := scenariotest.Given(t, strings.ReplaceAll(text, "AFTER", after))
		for _, tier := range scenarios.Tiers() {
			if got := pauses(t, s, tier); !slices.Equal(got, want) {
				t.Errorf("%s on %s: at %v ms, want %v", after, tier, got, want)
			}
		}
	}
}

// A message with several commands is one moment, and what PrepareGuard asks of a node is a command that sets a key.
func TestCommandMomentsOfMessages(t *testing.T) {
	const text = `
clients: [client-1, client-2]
nodes: {names: [A, B, C]}
resources: [R, S, T]
network: {latency: 5ms}
lock: {batching: 1, guard: {max-ttl: 10s}}
timeline:
  - {at: 1s, client: client-1, do: [prepare]}
  - {at: 2s, client: client-1, resource: R, do: [try-lock, sleep: 1s, unlock]}
  - {at: 2s, client: client-1, resource: S, do: [try-lock, sleep: 1s, unlock]}
  - {at: 2s, client: client-1, resource: T, do: [try-lock, sleep: 1s, unlock]}
  - {every: {event: set-sent, node: A}, fault: {pause: {process: client-2, for: 1us}}}
expect: {findings: safe, unavailable: {at-most: 1s}}
`
	// PrepareGuard asks each node for its run, and then declares that run fit. The second and third lock's commands wait for
	// the answer to the first, and go in one message.
	want := []int64{1000, 1010, 2000, 2010}
	for _, tier := range scenarios.Tiers() {
		if got := pauses(t, scenariotest.Given(t, text), tier); !slices.Equal(got, want) {
			t.Errorf("on %s: at %v ms, want %v", tier, got, want)
		}
	}
}

// pauses are the times at which clients are paused, in milliseconds.
func pauses(t *testing.T, s *scenarios.Scenario, tier scenarios.Tier) []int64 {
	t.Helper()
	r := scenariotest.Judged(t, s, scenarios.Options{Tier: tier})
	var at []int64
	for i := range r.History {
		if e := &r.History[i]; e.Kind == history.Fault && e.Name == "pause" {
			at = append(at, time.Duration(e.Time).Round(time.Millisecond).Milliseconds())
		}
	}
	return at
}
