// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestLeaseOverlapContractSeed187031174630520 repeats a run that a search found.
func TestLeaseOverlapContractSeed187031174630520(t *testing.T) {
	found, err := scenarios.Parse("19-lease-overlap-clock-rate-of-node.yaml", []byte(`title: lease-overlap, contract after clock-rate
source: 'found by search: drawn'
explanation: >
  client-1 (grant 1) and client-1 (grant 2) both held "R" for 100ms, from 1.88s. The faults exceed the budget: a clock
  ran 8% wrong, the budget is 0.5%.
claim: holds
lock: {ttl: 2s, guard-time: 320ms}
nodes: {names: [A, B, C]}
clients: [client-1]
network: {latency: 0s}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, resource: R, do: [lock], goroutines: 2}
  - {at: 0s, fault: {clock-rate: {process: B, rate: 8%}}}
  - {at: 0s, fault: {clock-rate: {process: C, rate: 8%}}}
duration: 2s
expect: {findings: [lease-overlap, contract], unavailable: {at-most: 1ms}, grants: {client-1: 2}}
recorded:
  seed: 187031174630520
  history: b2119e5f2d1a2faa4c3c0e54e607833c4f859a1ca62d35d51525113fc095aab8
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 187031174630520})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
