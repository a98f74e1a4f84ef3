// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestLeaseOverlapContractSeed7397998108032200 repeats a run that a search found.
func TestLeaseOverlapContractSeed7397998108032200(t *testing.T) {
	found, err := scenarios.Parse("20-lease-overlap-clock-stall-of-client.yaml", []byte(`title: lease-overlap, contract after clock-stall
source: 'found by search: drawn'
explanation: >
  client-1 (grant 1) and client-2 (grant 2) both held "R" for 78ms, from 2.1s. The faults exceed the budget: a clock ran
  100% wrong, the budget is 0.5%.
claim: holds
lock: {ttl: 2s, guard-time: 310ms}
nodes: {names: [A, B, C]}
clients: [client-1, client-2]
network: {latency: 0s}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, do: [lock]}
  - {at: 2100ms, client: client-2, do: [try-lock]}
  - {after: {event: set-sent}, fault: {clock-stall: {process: client-1, for: 200ms}}}
duration: 2500ms
expect:
  findings: [lease-overlap, contract]
  unavailable: {at-most: 1ms}
  grants: {client-1: 1, client-2: 1}
recorded:
  seed: 7397998108032200
  history: 77e87df19d48d36d214a09928067ea51e4961e481b13ad0b3fe186d49c3de03b
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 7397998108032200})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
