// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestUnprotectedSeed1605527235258068 repeats a run that a search found.
func TestUnprotectedSeed1605527235258068(t *testing.T) {
	found, err := scenarios.Parse("24-unprotected-kill.yaml", []byte(`title: unprotected after kill
source: 'found by search: drawn'
explanation: >
  client-1 (grant 1) believes in its lock on "R" until 800ms, but from 700ms on A of 1 nodes would grant it to another:
  its key was forgotten on A. The faults exceed the budget: A came back without its memory after 700ms, the budget
  allows that to no node before 2s.
claim: holds
lock: {ttl: 2s, guard-time: 310ms}
nodes: {names: [A]}
clients: [client-1]
network: {latency: 0s}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, resource: R, do: [lock]}
  - {at: 1ns, fault: {kill: {node: A, restart-after: 700ms}}}
duration: 800ms
expect: {findings: unprotected, unavailable: {at-most: 1ms}, grants: {client-1: 1}}
recorded:
  seed: 1605527235258068
  history: 17543922a8cd4dd2bc833ecb2b6294a55a80b0e56a31411b4f78eac4123b9a30
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 1605527235258068})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
