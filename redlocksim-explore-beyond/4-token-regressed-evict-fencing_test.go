// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestTokenRegressedTokenRepeatedSeed582630707856718 repeats a run that a search found.
func TestTokenRegressedTokenRepeatedSeed582630707856718(t *testing.T) {
	found, err := scenarios.Parse("4-token-regressed-evict-fencing.yaml", []byte(`title: token-regressed, token-repeated after evict
source: 'found by search: drawn'
explanation: >
  client-3 was granted "R" with the token 1, after client-2 had been granted 22. The faults exceed the budget: C, B lost
  fencing counters, the budget allows that to no node.
claim: holds
lock: {ttl: 2s, guard-time: 310ms, fencing: true}
nodes: {names: [A, B, C]}
clients: [client-1, client-2, client-3]
network: {latency: 0s}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, do: [try-lock]}
  - {at: 0s, client: client-2, do: [lock]}
  - {at: 5s, client: client-3, do: [try-lock]}
  - {at: 5s, fault: {evict: {node: C, keys: counters}}}
  - {at: 5s, fault: {evict: {node: B, keys: all}}}
duration: 6s
expect:
  findings: [token-regressed, token-repeated]
  unavailable: {at-most: 90ms}
  grants: {client-1: 1, client-2: 1, client-3: 1}
recorded:
  seed: 582630707856718
  history: b93dc0fdc4c7b30aac9ac235a1f610d1080e4f18db590e6db539e807b80f8431
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
