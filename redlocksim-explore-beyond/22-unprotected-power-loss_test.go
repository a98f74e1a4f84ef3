// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestUnprotectedSeed3656517919805903 repeats a run that a search found.
func TestUnprotectedSeed3656517919805903(t *testing.T) {
	found, err := scenarios.Parse("22-unprotected-power-loss.yaml", []byte(`title: unprotected after power-loss
source: 'found by search: drawn'
explanation: >
  client-1 (grant 1) believes in its lock on "R" until 3.48s, but from 3s on A and C of 3 nodes would grant it to
  another: its key was never set on A and was forgotten on C. The faults exceed the budget: C came back without its
  memory after 1s, the budget allows that to no node before 2s.
claim: holds
lock: {ttl: 2s, guard-time: 310ms}
nodes: {names: [A, B, C]}
clients: [client-1]
network: {latency: 0s}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, fault: {power-loss: {node: A, restart-after: 3s}}}
  - {at: 800ms, client: client-1, do: [lock, {sleep: 800ms}, {extend: 2s}]}
  - {at: 2s, fault: {power-loss: {node: C, restart-after: 1s}}}
duration: 4s
expect: {findings: unprotected, unavailable: {at-most: 1ms}, grants: {client-1: 1}}
recorded:
  seed: 3656517919805903
  history: b3b2adaa04e7d27f105ba45cb61bf5c07fe889ef750000e5de1ae32572319bcf
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 3656517919805903})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
