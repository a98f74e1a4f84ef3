// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestContractSeed3681778669363282 repeats a run that a search found.
func TestContractSeed3681778669363282(t *testing.T) {
	found, err := scenarios.Parse("1-contract-evict-node-timeout-forbidden.yaml", []byte(`title: contract after evict
source: 'found by search: drawn'
explanation: >
  client-1 gets an error that is not true, as E answered in time: redlock: release "R": no quorum of nodes (A not ours
  any more; B released; E timed out after 10ms). The faults exceed the budget: A lost locks by an eviction, the budget
  allows no node to lose memory. That is no excuse for it, so that the claim is unsound.
claim: unsound
lock: {ttl: 2s, node-timeout: 10ms, guard-time: 340ms}
nodes: {names: [A, B, E], forbidden: EVAL}
clients: [client-1]
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, do: [lock, unlock]}
  - {after: {event: validity-computed}, fault: {evict: {node: A}}}
duration: 20ms
expect: {findings: contract, unavailable: {at-most: 8ms}, grants: {client-1: 1}}
recorded:
  seed: 3681778669363282
  history: 849ab1c20d0b4a9a9d76ab4728cb40e7d9e9876805eff900e85d5e51b296b3d8
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 3681778669363282})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
