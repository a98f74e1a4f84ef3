// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestContractSeed1627354620817436 repeats a run that a search found.
func TestContractSeed1627354620817436(t *testing.T) {
	found, err := scenarios.Parse("11-contract-suspend.yaml", []byte(`title: contract after suspend
source: 'found by search: drawn'
explanation: >
  client-1 is told that its lease lasts until 2.01s, but its keys last for so long on only 0 of the 2 nodes that it
  takes. The faults exceed the budget: a suspension of 30ms, the budget is 0s.
claim: holds
lock: {ttl: 2s, guard-time: 310ms}
nodes: {names: [A, B, C]}
clients: [client-1]
network: {latency: 5ms}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, do: [lock]}
  - {at: 1ns, fault: {suspend: {client: client-1, for: 30ms}}}
duration: 40ms
expect: {findings: contract, unavailable: {at-most: 40ms}, grants: {client-1: 1}}
recorded:
  seed: 1627354620817436
  history: 53f3ae8e7a8fc06adb19b052dc458e53260c441cc4a410be6cf3f7a89fd3994b
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 1627354620817436})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
