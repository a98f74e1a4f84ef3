// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestLeaseOverlapSeed5609010817162906 repeats a run that a search found.
func TestLeaseOverlapSeed5609010817162906(t *testing.T) {
	found, err := scenarios.Parse("26-lease-overlap-shutdown.yaml", []byte(`title: lease-overlap after shutdown
source: 'found by search: drawn'
explanation: >
  client-1 (grant 1) and client-2 (grant 2) both held "R" for 107ms, from 1.09s. The faults exceed the budget: A came
  back without its memory after 1s, the budget allows that to no node before 2s.
claim: holds
lock: {ttl: 2s, guard-time: 310ms}
nodes: {names: [A, B, C]}
clients: [client-1, client-2]
network: {latency: 0s}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, do: [try-lock]}
  - {at: 0s, fault: {shutdown: {node: B, restart-after: 1s}}}
  - {at: 0s, client: client-2, do: [lock]}
  - {at: 1ns, fault: {shutdown: {node: A, restart-after: 1s}}}
duration: 1200ms
expect: {findings: lease-overlap, unavailable: {at-most: 1ms}, grants: {client-1: 1, client-2: 1}}
recorded:
  seed: 5609010817162906
  history: f5d413b36427ddda023a865357640d1449ace578bb9ad81b02a5915b2938e674
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 5609010817162906})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
