// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestContractSeed6618770023227597 repeats a run that a search found.
func TestContractSeed6618770023227597(t *testing.T) {
	found, err := scenarios.Parse("28-contract-clock-step-of-node-guard.yaml", []byte(`title: contract after clock-step
source: 'found by search: drawn'
explanation: >
  client-1 is told that its lease lasts until 5.88s, but its keys last for so long on only 1 of the 2 nodes that it
  takes. The faults exceed the budget: a clock step of 2s, the budget is 0s.
claim: holds
lock: {ttl: 2s, guard-time: 310ms, guard: {max-ttl: 2s}}
nodes: {names: [A, B, C]}
clients: [client-1]
network: {latency: 0s}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 0s}
timeline:
  - {at: 0s, client: client-1, do: [lock, {sleep: 1700ms}, {renew: 200ms}]}
  - {at: 3s, fault: {clock-step: {process: B, by: 200ms}}}
  - {at: 3s, fault: {clock-step: {process: C, by: -2s}}}
duration: 4s
expect: {findings: contract, unavailable: {at-most: 3s}, grants: {client-1: 1}}
recorded:
  seed: 6618770023227597
  history: 34ee2c9313da8e88112a5a3a82c700378afc0862b1a6a5320eb77a393fa08cd4
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 6618770023227597})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
