// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestContractSeed4972269921094854 repeats a run that a search found.
func TestContractSeed4972269921094854(t *testing.T) {
	found, err := scenarios.Parse("9-contract-clock-rate-of-client.yaml", []byte(`title: contract after clock-rate
source: 'found by search: drawn'
explanation: >
  client-1 is told that its lease lasts until 2.02s, but its keys last for so long on only 0 of the 2 nodes that it
  takes. The faults exceed the budget: a clock ran 2% wrong, the budget is 0.5%.
claim: holds
lock: {ttl: 2s, guard-time: 310ms}
nodes: {names: [A, B, C]}
clients: [client-1]
network: {latency: 0s}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, do: [lock]}
  - {at: 0s, fault: {clock-rate: {process: client-1, rate: -2%}}}
duration: 12ms
expect: {findings: contract, unavailable: {at-most: 1ms}, grants: {client-1: 1}}
recorded:
  seed: 4972269921094854
  history: 694434cce091a1b4fbb35a77fd9e01a0f14b7bc45cdef3e88a205493a19c65b0
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 4972269921094854})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
