// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestTokenRepeatedSeed8814869595062290 repeats a run that a search found.
func TestTokenRepeatedSeed8814869595062290(t *testing.T) {
	found, err := scenarios.Parse("10-token-repeated-kill-fencing.yaml", []byte(`title: token-repeated after kill
source: 'found by search: drawn'
explanation: >
  client-2 was granted "R" with the token 1, which client-1 had been granted before. The faults exceed the budget: A
  came back without its memory after 900ms, the budget allows that to no node before 2s; A lost fencing counters, the
  budget allows that to no node.
claim: holds
lock: {ttl: 2s, guard-time: 310ms, fencing: true}
nodes: {names: [A]}
clients: [client-1, client-2]
network: {latency: 0s}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, do: [lock, unlock]}
  - {at: 900ms, client: client-2, do: [try-lock]}
  - {after: {event: release-started}, fault: {kill: {node: A, restart-after: 900ms}}}
duration: 1s
expect: {findings: token-repeated, unavailable: {at-most: 1ms}, grants: {client-1: 1, client-2: 1}}
recorded:
  seed: 8814869595062290
  history: f6b97087f45c82b0c76687f2373fd035ae03c94c0065599d5b0a8729d0a634e2
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 8814869595062290})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
