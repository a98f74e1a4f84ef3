// Generator: redlocksim

package found_test

import (
	"testing"

	"redlocksim/scenarios"
)

// TestUnprotectedSeed8258968330045618 repeats a run that a search found.
func TestUnprotectedSeed8258968330045618(t *testing.T) {
	found, err := scenarios.Parse("17-unprotected-clock-stall-of-client.yaml", []byte(`title: unprotected after clock-stall
source: 'found by search: drawn'
explanation: >
  client-1 (grant 1) believes in its lock on "R" until 2.08s, but from 2s on A, B and C of 3 nodes would grant it to
  another: its key ran out on A, B and C. The faults exceed the budget: a clock ran 100% wrong, the budget is 0.5%.
claim: holds
lock: {ttl: 2s, guard-time: 310ms}
nodes: {names: [A, B, C]}
clients: [client-1]
network: {latency: 0s}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
timeline:
  - {at: 0s, client: client-1, do: [lock]}
  - {at: 200ms, fault: {clock-stall: {process: client-1, for: 200ms}}}
duration: 2500ms
expect: {findings: unprotected, unavailable: {at-most: 1ms}, grants: {client-1: 1}}
recorded:
  seed: 8258968330045618
  history: da480458b6776ced3b91309eb0bcf1dc87679758c6b9fce567e1050a19d57b0d
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range scenarios.Tiers() {
		r, err := scenarios.Verify(found[0], scenarios.Options{Tier: tier, Seed: 8258968330045618})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			t.Errorf("tier %s: %s", tier, p.Text)
		}
	}
}
