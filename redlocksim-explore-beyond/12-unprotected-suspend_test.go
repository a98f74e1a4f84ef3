// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestUnprotectedSeed172668742115722 repeats a run that a search found.
func TestUnprotectedSeed172668742115722(t *testing.T) {
	found, err := scenarios.Parse("12-unprotected-suspend.yaml", []byte(`title: unprotected after suspend
source: 'found by search: drawn'
explanation: >
  client-1 (grant 1) believes in its lock on "R" until 2.08s, but from 2s on A, B and C of 3 nodes would grant it to
  another: its key ran out on A, B and C. The faults exceed the budget: a suspension of 200ms, the budget is 0s.
claim: holds
lock: {ttl: 2s, guard-time: 310ms}
nodes: {names: [A, B, C]}
clients: [client-1]
network: {latency: 0s}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, resource: R, do: [{lock: R}]}
  - {at: 1ns, fault: {suspend: {client: client-1, for: 200ms}}}
duration: 2500ms
expect: {findings: unprotected, unavailable: {at-most: 1ms}, grants: {client-1: 1}}
recorded:
  seed: 172668742115722
  history: ac4c9ccc010ed1b292399f76684636cdbb680bd36c9ee67f35441aafa1524ed6
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 172668742115722})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
