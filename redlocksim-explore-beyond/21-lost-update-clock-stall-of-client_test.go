// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestLeaseOverlapLostUpdateContractSeed7397998108032200 repeats a run that a search found.
func TestLeaseOverlapLostUpdateContractSeed7397998108032200(t *testing.T) {
	found, err := scenarios.Parse("21-lost-update-clock-stall-of-client.yaml", []byte(`title: lease-overlap, lost-update, contract after clock-stall
source: 'found by search: drawn'
explanation: >
  client-1 (grant 1) and client-2 (grant 3) both held "R" for 1s, from 3s. The faults exceed the budget: a clock ran
  100% wrong, the budget is 0.5%.
claim: holds
lock: {ttl: 2s, guard-time: 310ms}
nodes: {names: [A, B, C]}
clients: [client-1, client-2]
network: {latency: 0s}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, do: [lock, read, {hold: 1ms}, write-back]}
  - {at: 3s, client: client-2, do: [try-lock, write]}
  - {after: {event: set-sent}, fault: {clock-stall: {process: client-1, for: 3s}}}
duration: 4s
expect:
  findings: [lease-overlap, lost-update, contract]
  unavailable: {at-most: 1ms}
  grants: {client-1: 1, client-2: 1}
recorded:
  seed: 7397998108032200
  history: 0bbc60a08988eebd0bfc994d281f52406cdb3ac2e4059e5b792c45f29d65a04b
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
