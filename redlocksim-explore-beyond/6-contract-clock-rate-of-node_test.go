// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestContractSeed2002960582214468 repeats a run that a search found.
func TestContractSeed2002960582214468(t *testing.T) {
	found, err := scenarios.Parse("6-contract-clock-rate-of-node.yaml", []byte(`title: contract after clock-rate
source: 'found by search: drawn'
explanation: >
  client-3 is told that its lease lasts until 1.98s, but its keys last for so long on only 1 of the 2 nodes that it
  takes. The faults exceed the budget: a clock ran 2% wrong, the budget is 0.5%.
claim: holds
lock: {ttl: 2s, guard-time: 310ms}
nodes: {names: [A, B, D]}
clients: [client-1, client-3]
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, do: [lock]}
  - {at: 0s, client: client-3, do: [try-lock]}
  - {at: 0s, fault: {clock-rate: {process: B, rate: 2%}}}
duration: 12ms
expect: {findings: contract, unavailable: {at-most: 7ms}, grants: {client-1: 0, client-3: 1}}
recorded:
  seed: 2002960582214468
  history: f77233154cbe7fa457684ad29e3262159f5a0edb48037ffc44a8c2c525b608d2
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 2002960582214468})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
