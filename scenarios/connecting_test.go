package scenarios_test

import (
	"testing"

	"redlocksim/scenarios"
)

// A client that connects to the nodes for one call has the calls wait that come meanwhile: how many nodes there are is only
// known then.
func TestCallsWaitUntilTheClientIsConnected(t *testing.T) {
	found, err := scenarios.Parse("test.yaml", []byte(`
title: two calls at once, while a node cannot be reached
source: a random search
explanation: Of no interest.
claim: holds
clients: [client-1, client-2]
resources: [R, S]
lock: {preset: redlock-cpp, ttl: 10s}
timeline:
  - {at: 0s, fault: {kill: {node: E}}}
  - {at: 0s, client: client-1, do: [lock: {resource: R}, unlock]}
  - {at: 0s, client: client-1, do: [lock: {resource: S}, unlock]}
  - {at: 8s, client: client-2, do: [lock: {resource: R}, unlock]}
expect: {findings: safe, unavailable: {at-most: 10s}, grants: {client-1: 2, client-2: 1}}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range []scenarios.Tier{scenarios.Model, scenarios.Wire} {
		r, err := scenarios.Judge(found[0], scenarios.Options{Tier: tier})
		if err != nil {
			t.Errorf("%s: %v", tier, err)
			continue
		}
		if !r.OK() {
			t.Errorf("%s: %v", tier, r.Problems)
		}
	}
}
