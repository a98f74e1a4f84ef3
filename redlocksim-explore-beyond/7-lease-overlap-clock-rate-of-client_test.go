// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestLeaseOverlapContractSeed4972269921094854 repeats a run that a search found.
func TestLeaseOverlapContractSeed4972269921094854(t *testing.T) {
	found, err := scenarios.Parse("7-lease-overlap-clock-rate-of-client.yaml", []byte(`title: lease-overlap, contract after clock-rate
source: 'found by search: drawn'
explanation: >
  client-1 (grant 1) and client-3 (grant 2) both held "R" for 11.6ms, from 2.01s. The faults exceed the budget: a clock
  ran 2% wrong, the budget is 0.5%.
claim: holds
lock: {ttl: 2s, guard-time: 310ms}
nodes: {names: [A, B, C]}
clients: [client-1, client-3]
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, do: [lock]}
  - {at: 0s, client: client-3, do: [lock]}
  - {at: 0s, fault: {clock-rate: {process: client-1, rate: -2%}}}
duration: 2500ms
expect:
  findings: [lease-overlap, contract]
  unavailable: {at-most: 7ms}
  grants: {client-1: 1, client-3: 1}
recorded:
  seed: 4972269921094854
  history: 4c629e8e02269577a1aeee1cb32de2e533b3e5893387c43cb5f1afce54c4ae63
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
