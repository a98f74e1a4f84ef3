// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestLeaseOverlapSeed3380147980533261 repeats a run that a search found.
func TestLeaseOverlapSeed3380147980533261(t *testing.T) {
	found, err := scenarios.Parse("25-lease-overlap-kill-power-loss.yaml", []byte(`title: lease-overlap after kill, power-loss
source: 'found by search: drawn'
explanation: >
  client-1 (grant 1) and client-2 (grant 2) both held "R" for 102ms, from 898ms. The faults exceed the budget: B came
  back without its memory after 800ms, the budget allows that to no node before 2s.
claim: holds
lock: {ttl: 2s, guard-time: 310ms}
nodes: {names: [A, B, C]}
clients: [client-1, client-2]
network: {latency: 0s}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, do: [lock]}
  - {at: 0s, client: client-2, do: [lock]}
  - {at: 0s, fault: {kill: {node: C, restart-after: 800ms}}}
  - {at: 1ns, fault: {power-loss: {node: B, restart-after: 800ms}}}
duration: 1s
expect: {findings: lease-overlap, unavailable: {at-most: 1ms}, grants: {client-1: 1, client-2: 1}}
recorded:
  seed: 3380147980533261
  history: 8bcd9bd7dd5cf23f08604d06a4b13f819e3e9c7c47d0162ce373b8655ec74ad5
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 3380147980533261})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
