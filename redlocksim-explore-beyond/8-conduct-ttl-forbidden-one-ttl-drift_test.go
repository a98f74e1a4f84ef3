// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestConductSeed2150416657519646 repeats a run that a search found.
func TestConductSeed2150416657519646(t *testing.T) {
	found, err := scenarios.Parse("8-conduct-ttl-forbidden-one-ttl-drift.yaml", []byte(`title: conduct without any fault
source: 'found by search: drawn'
explanation: >
  client-1 extends its key on E, although it has begun to release it 11.4ms before. Nothing exceeds the budget, so that
  the protocol does not hold with these settings: the claim is unsound.
claim: unsound
lock: {ttl: 400ms, guard-time: 370ms, drift: {factor: 18.1819%, constant: 51ms}, one-ttl: true}
nodes: {names: [A, C, E], forbidden: EVAL}
clients: [client-1, client-2]
network: {latency: {min: 0s, max: 30ms}}
budget: {clock-rate: 10%, clock-step: 50ms, delay: 100ms, pause: 200ms, restart-delay: 400ms}
timeline:
  - {at: 0s, client: client-1, do: [{with-lock: 300ms}]}
  - {at: 0s, client: client-2, do: [lock]}
duration: 500ms
expect: {findings: conduct, unavailable: {at-most: 200ms}, grants: {client-1: 1, client-2: 0}}
recorded:
  seed: 2150416657519646
  history: 5060fe0e030a20f9978bc2ccf0c2a18a84ab1145e32c4ad2797e3f3b3cdd05f1
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 2150416657519646})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
