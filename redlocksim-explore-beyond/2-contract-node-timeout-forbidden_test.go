// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestContractSeed5177502748031361 repeats a run that a search found.
func TestContractSeed5177502748031361(t *testing.T) {
	found, err := scenarios.Parse("2-contract-node-timeout-forbidden.yaml", []byte(`title: contract without any fault
source: 'found by search: drawn'
explanation: >
  client-2 gets an error that is not true, as E answered in time: redlock: release "S": no quorum of nodes (A released;
  D timed out after 7.5ms; E timed out after 7.5ms). Nothing exceeds the budget, so that the protocol does not hold with
  these settings: the claim is unsound.
claim: unsound
lock: {ttl: 2s, node-timeout: 7500us, guard-time: 310ms}
nodes: {names: [A, D, E], forbidden: EVAL}
clients: [client-2]
resources: [R, S]
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-2, resource: R, do: [lock]}
  - {at: 0s, client: client-2, resource: S, do: [{with-lock: 1ms}]}
duration: 50ms
expect: {findings: contract, unavailable: {at-most: 7ms}, grants: {client-2: 2}}
recorded:
  seed: 5177502748031361
  history: 1580675496076c8c0ae77dbb9821bd1efe6cfc8fc450d0ea3ec5fe8f22895f9a
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 5177502748031361})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
