// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestLeaseOverlapSeed3128846271082417 repeats a run that a search found.
func TestLeaseOverlapSeed3128846271082417(t *testing.T) {
	found, err := scenarios.Parse("14-lease-overlap-suspend.yaml", []byte(`title: lease-overlap after suspend
source: 'found by search: drawn'
explanation: >
  client-2 (grant 1) and client-1 (grant 2) both held "R" for 25.1ms, from 2.02s. The faults exceed the budget: a
  suspension of 70ms, the budget is 0s.
claim: holds
lock: {ttl: 2s, guard-time: 310ms}
nodes: {names: [A, B, C]}
clients: [client-1, client-2]
network: {latency: 0s}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-2, resource: R, do: [lock]}
  - {at: 0s, client: client-1, resource: R, do: [lock]}
  - {at: 70ms, fault: {suspend: {client: client-2, for: 70ms}}}
duration: 2500ms
expect: {findings: lease-overlap, unavailable: {at-most: 2s}, grants: {client-1: 1, client-2: 1}}
recorded:
  seed: 3128846271082417
  history: 390be310791bece94825c914508a125649757454fc9f3b9c0d9762bf092c9041
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 3128846271082417})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
