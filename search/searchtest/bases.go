// Package searchtest has settings of every kind for the tests of searches.
package searchtest

import (
	"fmt"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// layouts are arrangements of nodes.
var layouts = []string{
	"names: [A]",
	"names: [A, B, C]",
	"names: [A], replicas: {A: [A2]}",
	"names: [A, B, C], replicas: {A: [A2], B: [B2], C: [C2]}",
}

// Settings are those of every protocol on every arrangement of nodes that it can have.
func Settings(t testing.TB) (found []*scenarios.Scenario) {
	t.Helper()
	on := map[string]bool{}
	for _, p := range protocols.All() {
		fits := false
		for _, nodes := range layouts {
			name := fmt.Sprintf("%s on {%s}", p.Name, nodes)
			s, err := scenarios.ParseSettings(name, fmt.Appendf(nil, "lock: {protocol: %s}\nnodes: {%s}\n", p.Name, nodes))
			if err == nil {
				found, fits, on[nodes] = append(found, s), true, true
			}
		}
		if !fits {
			t.Errorf("%s fits on no arrangement of nodes", p.Name)
		}
	}
	for _, nodes := range layouts {
		if !on[nodes] {
			t.Errorf("no protocol fits on %s", nodes)
		}
	}
	return found
}
