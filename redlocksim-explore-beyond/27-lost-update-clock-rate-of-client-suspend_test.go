// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestLeaseOverlapLostUpdateSeed5609010817162906 repeats a run that a search found.
func TestLeaseOverlapLostUpdateSeed5609010817162906(t *testing.T) {
	found, err := scenarios.Parse("27-lost-update-clock-rate-of-client-suspend.yaml", []byte(`title: lease-overlap, lost-update after clock-rate, suspend
source: 'found by search: drawn'
explanation: >
  client-1 (grant 1) and client-2 (grant 2) both held "R" for 433ms, from 2.07s. The faults exceed the budget: a clock
  ran 22% wrong, the budget is 0.5%; a suspension of 2s, the budget is 0s.
claim: holds
lock: {ttl: 2s, guard-time: 310ms}
nodes: {names: [A, B, C]}
clients: [client-1, client-2]
network: {latency: 5ms}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, do: [try-lock, {hold: 250ms}, update]}
  - {at: 0s, fault: {clock-rate: {process: client-1, rate: 22%}}}
  - {at: 0s, client: client-2, do: [lock, read, write-back]}
  - {at: 220ms, fault: {suspend: {client: client-1, for: 2s}}}
duration: 2500ms
expect:
  findings: [lease-overlap, lost-update]
  unavailable: {at-most: 2s}
  grants: {client-1: 1, client-2: 1}
recorded:
  seed: 5609010817162906
  history: 702aeadfac562152f04f43250c436e1e67e8dea1685c3f346950f50d5c4bb802
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 5609010817162906})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
