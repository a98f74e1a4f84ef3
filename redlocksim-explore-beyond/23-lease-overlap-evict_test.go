// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestLeaseOverlapSeed4603166254509540 repeats a run that a search found.
func TestLeaseOverlapSeed4603166254509540(t *testing.T) {
	found, err := scenarios.Parse("23-lease-overlap-evict.yaml", []byte(`title: lease-overlap after evict
source: 'found by search: drawn'
explanation: >
  client-1 (grant 1) and client-2 (grant 2) both held "R" for 3.07ms, from 96.9ms. The faults exceed the budget: A lost
  locks by an eviction, the budget allows no node to lose memory.
claim: holds
lock: {ttl: 2s, guard-time: 310ms}
nodes: {names: [A]}
clients: [client-1, client-2]
network: {latency: 0s}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, do: [lock]}
  - {at: 0s, client: client-2, do: [lock]}
  - {at: 1ns, fault: {evict: {node: A}}}
duration: 100ms
expect: {findings: lease-overlap, unavailable: {at-most: 1ms}, grants: {client-1: 1, client-2: 1}}
recorded:
  seed: 4603166254509540
  history: ba5d210fc582568638cb5bd5701e5623293901585001fecc47a653330a01f75d
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 4603166254509540})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
