// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestContractSeed6791911165961533 repeats a run that a search found.
func TestContractSeed6791911165961533(t *testing.T) {
	found, err := scenarios.Parse("13-contract-clock-stall-of-client.yaml", []byte(`title: contract after clock-stall
source: 'found by search: drawn'
explanation: >
  client-1 is told that its lease lasts until 2562047h47m16.854775807s, but its keys last for so long on only 0 of the 2
  nodes that it takes. The faults exceed the budget: a clock ran 100% wrong, the budget is 0.5%.
claim: holds
lock: {ttl: 2s, guard-time: 310ms}
nodes: {names: [A, B, C]}
clients: [client-1]
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, do: [lock]}
  - {at: 6ms, fault: {clock-stall: {process: client-1, for: 1ms}}}
duration: 12ms
expect: {findings: contract, unavailable: {at-most: 7ms}, grants: {client-1: 1}}
recorded:
  seed: 6791911165961533
  history: a04c2448b433278d4c128f037d8fec63017d05643889af3730d16b6e1248a770
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 6791911165961533})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
