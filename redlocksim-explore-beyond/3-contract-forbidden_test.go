// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestContractSeed5052602060416300 repeats a run that a search found.
func TestContractSeed5052602060416300(t *testing.T) {
	found, err := scenarios.Parse("3-contract-forbidden.yaml", []byte(`title: contract without any fault
source: 'found by search: drawn'
explanation: >
  client-1 gets an error that is not true, as E answered in time: redlock: release "R": no quorum of nodes (A released;
  B released; C released; D timed out after 50ms; E timed out after 50ms). Nothing exceeds the budget, so that the
  protocol does not hold with these settings: the claim is unsound.
claim: unsound
lock: {ttl: 2s, guard-time: 340ms, quorum: 4}
nodes: {forbidden: EVAL}
clients: [client-1]
network: {latency: {min: 0s, max: 30ms}}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, resource: R, do: [{sleep: 1ms}, try-lock, unlock], repeat: 7}
duration: 600ms
expect: {findings: contract, unavailable: {at-most: 50ms}, grants: {client-1: 5}}
recorded:
  seed: 5052602060416300
  history: cae55e238d4895189adab8ba2d26b2b10774ec3b980cbab8cc3327443e6c1a16
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 5052602060416300})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
