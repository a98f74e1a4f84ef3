// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestUnprotectedSeed2781659775474880 repeats a run that a search found.
func TestUnprotectedSeed2781659775474880(t *testing.T) {
	found, err := scenarios.Parse("18-unprotected-shutdown.yaml", []byte(`title: unprotected after shutdown
source: 'found by search: drawn'
explanation: >
  client-1 (grant 1) believes in its lock on "R" until 1.2s, but from 1s on B and C of 3 nodes would grant it to
  another: its key was forgotten on B and was never set on C. The faults exceed the budget: B came back without its
  memory after 1s, the budget allows that to no node before 2s.
claim: holds
lock: {ttl: 2s, guard-time: 310ms}
nodes: {names: [A, B, C]}
clients: [client-1]
network: {latency: 0s}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, do: [lock]}
  - {at: 0s, fault: {shutdown: {node: C, restart-after: 1s}}}
  - {at: 1ns, fault: {shutdown: {node: B, restart-after: 1s}}}
duration: 1200ms
expect: {findings: unprotected, unavailable: {at-most: 1ms}, grants: {client-1: 1}}
recorded:
  seed: 2781659775474880
  history: 4b1c1fcaf46f427f19f1745800f9aa21f979f867ccfffb1858df67479761c14b
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 2781659775474880})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
