// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestUnprotectedSeed3716548171390578 repeats a run that a search found.
func TestUnprotectedSeed3716548171390578(t *testing.T) {
	found, err := scenarios.Parse("16-unprotected-evict.yaml", []byte(`title: unprotected after evict
source: 'found by search: drawn'
explanation: >
  client-1 (grant 1) believes in its lock on "R" until 12ms, but from 1ns on A and C of 3 nodes would grant it to
  another: its key was forgotten on A and C. The faults exceed the budget: A lost locks by an eviction, the budget
  allows no node to lose memory; C lost locks by an eviction, the budget allows no node to lose memory.
claim: holds
lock: {ttl: 2s, guard-time: 310ms}
nodes: {names: [A, B, C]}
clients: [client-1]
network: {latency: 0s}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, do: [lock]}
  - {at: 1ns, fault: {evict: {node: A}}}
  - {at: 1ns, fault: {evict: {node: C}}}
duration: 12ms
expect: {findings: unprotected, unavailable: {at-most: 1ms}, grants: {client-1: 1}}
recorded:
  seed: 3716548171390578
  history: 3cfd29ea2b7038640e508f722571eb30fd305f58246b4353383d520a928cbf4a
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 3716548171390578})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
