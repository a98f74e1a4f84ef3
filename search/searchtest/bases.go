// Package searchtest has settings and scenarios of every kind for the tests of searches.
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
func Settings(t testing.TB) []*scenarios.Scenario {
	t.Helper()
	return all(t, func(name, settings string) (*scenarios.Scenario, error) {
		return scenarios.ParseSettings(name, []byte(settings))
	})
}

// Scenarios are Settings in which two clients ask for the lock, one after the other.
func Scenarios(t testing.TB) []*scenarios.Scenario {
	t.Helper()
	return all(t, func(name, settings string) (*scenarios.Scenario, error) {
		found, err := scenarios.Parse(name, []byte(settings+`
title: two clients
source: a test
explanation: One asks for the lock that the other has.
claim: holds
clients: [client-1, client-2]
duration: 40s
timeline:
  - {at: 0s, client: client-1, do: [lock, hold: 1s, unlock]}
  - {at: 500ms, client: client-2, do: [lock, hold: 1s, unlock]}
expect: {findings: safe, unavailable: {at-most: 1m}}
`))
		if err != nil {
			return nil, err
		}
		return found[0], nil
	})
}

func all(t testing.TB, parse func(name, settings string) (*scenarios.Scenario, error)) []*scenarios.Scenario {
	t.Helper()
	var found []*scenarios.Scenario
	on := map[string]bool{}
	for _, p := range protocols.All() {
		fits := false
		for _, nodes := range layouts {
			name := fmt.Sprintf("%s on {%s}", p.Name, nodes)
			s, err := parse(name, fmt.Sprintf("lock: {protocol: %s}\nnodes: {%s}\n", p.Name, nodes))
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
