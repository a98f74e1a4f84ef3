// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestTokenRepeatedSeed582630707856718 repeats a run that a search found.
func TestTokenRepeatedSeed582630707856718(t *testing.T) {
	found, err := scenarios.Parse("5-token-repeated-evict-fencing.yaml", []byte(`title: token-repeated after evict
source: 'found by search: drawn'
explanation: >
  client-2 was granted "R" with the token 1, which client-1 had been granted before. The faults exceed the budget: C, B
  lost fencing counters, the budget allows that to no node.
claim: holds
lock: {ttl: 2s, guard-time: 310ms, fencing: true}
nodes: {names: [A, B, C]}
clients: [client-1, client-2]
network: {latency: 0s}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, do: [lock]}
  - {at: 3s, client: client-2, do: [try-lock]}
  - {at: 3s, fault: {evict: {node: C, keys: counters}}}
  - {at: 3s, fault: {evict: {node: B, keys: all}}}
duration: 4s
expect: {findings: token-repeated, unavailable: {at-most: 1ms}, grants: {client-1: 1, client-2: 1}}
recorded:
  seed: 582630707856718
  history: 148499ba666386f936048750489dc67e39f55fd17cd2370ea3b4d34d68ed3954
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 582630707856718})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
