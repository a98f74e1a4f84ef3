// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestLeaseOverlapSeed1596671143386524 repeats a run that a search found.
func TestLeaseOverlapSeed1596671143386524(t *testing.T) {
	found, err := scenarios.Parse("15-lease-overlap-clock-stall-of-client-ttl.yaml", []byte(`title: lease-overlap after clock-stall
source: 'found by search: drawn'
explanation: >
  client-2 (grant 2) and client-3 (grant 5) both held "R" for 1.15ms, from 3.14s. The faults exceed the budget: a clock
  ran 100% wrong, the budget is 0.5%.
claim: holds
lock: {ttl: 1s, guard-time: 310ms}
nodes: {names: [A, B, C]}
clients: [client-1, client-2, client-3]
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 1s}
timeline:
  - {at: 0s, client: client-1, resource: R, do: [lock], repeat: 2}
  - {at: 0s, client: client-2, resource: R, do: [lock]}
  - {at: 0s, client: client-3, resource: R, do: [try-lock]}
  - {at: 2830666947ns, client: client-3, resource: R, do: [lock]}
  - {at: 2830666947ns, fault: {clock-stall: {process: client-2, for: 30ms}}}
duration: 4s
expect:
  findings: lease-overlap
  unavailable: {at-most: 90ms}
  grants: {client-1: 2, client-2: 1, client-3: 1}
recorded:
  seed: 1596671143386524
  history: b8416b9c37b0a11dc442d30622b38f2b9881f270def7a3ab28290c371c481927
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 1596671143386524})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
