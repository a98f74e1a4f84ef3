package scenarios_test

import (
	"fmt"
	"slices"
	"testing"

	"redlocksim/scenarios"
)

// TestStatesAreAbstract: what counts is what clients do and nodes hold, not who does it, when, and on which node.
func TestStatesAreAbstract(t *testing.T) {
	states := func(clients, timeline string) []scenarios.State {
		all, err := scenarios.Parse("x.yaml", fmt.Appendf(nil, "title: x\nsource: x\nexplanation: x\nclaim: holds\nclients: [%s]\nnetwork: {latency: 1ms}\n"+
			"timeline:\n%s\nduration: 20s\nexpect: {findings: safe, unavailable: {at-most: 20s}}\n", clients, timeline))
		if err != nil {
			t.Fatal(err)
		}
		out, err := scenarios.Run(all[0], scenarios.Options{States: true})
		if err != nil {
			t.Fatal(err)
		}
		again, err := scenarios.Run(all[0], scenarios.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if again.States != nil || again.TraceHash != out.TraceHash {
			t.Errorf("noting states changes the run: %s and %s, %v", again.TraceHash, out.TraceHash, again.States)
		}
		return out.States
	}
	const work = "do: [lock, hold: 1s, unlock]"
	one := states("a, b", "  - {at: 0s, client: a, "+work+"}\n  - {at: 5s, client: b, "+work+"}")
	for _, c := range []struct {
		name, clients, timeline string
		same                    bool
	}{
		{"other names", "p, q", "  - {at: 0s, client: q, " + work + "}\n  - {at: 5s, client: p, " + work + "}", true},
		{"other times", "a, b", "  - {at: 1s, client: a, do: [lock, hold: 700ms, unlock]}\n  - {at: 9s, client: b, " + work + "}", true},
		{"at the same time", "a, b", "  - {at: 0s, client: a, " + work + "}\n  - {at: 500ms, client: b, " + work + "}", false},
		{"no release", "a, b", "  - {at: 0s, client: a, do: [lock, hold: 1s]}\n  - {at: 15s, client: b, " + work + "}", false},
		{"a node is down", "a, b", "  - {at: 0s, fault: {kill: {node: A}}}\n  - {at: 0s, client: a, " + work + "}\n  - {at: 5s, client: b, " + work + "}", false},
	} {
		if got := states(c.clients, c.timeline); slices.Equal(got, one) != c.same {
			t.Errorf("%s: %d states, as before: %t, want %t", c.name, len(got), !c.same, c.same)
		}
	}
	if len(one) < 5 {
		t.Errorf("%d states only", len(one))
	}
}
