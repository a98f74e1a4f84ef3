package search

import (
	"os"
	"slices"
	"testing"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
)

// A run in which one process contends with itself shows what it violates, and nothing if it violates nothing.
func TestViolationsWithoutContention(t *testing.T) {
	const one = `
clients: [client-1, client-2]
lock: {protocol: single}
nodes: {names: [A]}
timeline:
  - {at: 0s, client: client-1, do: [try-lock, hold: 8s, unlock]}
  - {at: 2s, client: client-1, do: [try-lock, hold: 1s, unlock]}
`
	for text, want := range map[string][]checker.Kind{one: nil, one + "  - {at: 1s, fault: {clock-step: {process: A, by: 20s}}}\n": {checker.LeaseOverlap}} {
		r := scenariotest.Judged(t, scenariotest.Given(t, text), scenarios.Options{})
		if !slices.Equal(r.Report.Shows(checker.Kind.Defect), want) || (r.Report.NotTested() != "") != (want == nil) {
			t.Errorf("%v in a run that shows %v, not tested %q", r.Report.Shows(checker.Kind.Defect), r.Findings, r.Report.NotTested())
		}
	}
}

// What is found without the specification is looked for without it: unprotected does not stand beside what that objects to.
func TestUnprotectedBesideRefinement(t *testing.T) {
	data, err := os.ReadFile("testdata/unprotected-and-refinement.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all, err := scenarios.Parse("x.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	const seed = 0
	r, err := verdict.Judge(all[0], scenarios.Options{Seed: seed})
	if err != nil || !slices.Equal(r.Report.Shows(checker.Kind.Defect), []checker.Kind{checker.Refinement}) {
		t.Fatalf("%v, %v", r.Report.Shows(checker.Kind.Defect), err)
	}
	for _, c := range []struct {
		kind      checker.Kind
		unrefined bool
		want      bool
	}{{checker.Unprotected, true, true}, {checker.Unprotected, false, false}, {checker.Refinement, true, false}, {checker.Refinement, false, true}} {
		v := Violation{Scenario: all[0], Seed: seed, Kind: c.kind, Beyond: true, Unrefined: c.unrefined}
		same, err := v.Same()
		if err != nil {
			t.Fatal(err)
		}
		if h, err := same(all[0]); (h != nil) != c.want || err != nil {
			t.Errorf("%+v: %d events, %v", c, len(h), err)
		}
	}
}

// What did not happen is taken out, but for what says where a lock on one node is.
func TestWithoutIdle(t *testing.T) {
	at := func(node string) scenarios.Item {
		return scenarios.Item{Kind: "kill", Fault: &faults.Kill{Outage: faults.Outage{Node: node}}}
	}
	s := &scenarios.Scenario{Nodes: scenarios.Nodes{Names: []string{"A", "B", "C"}}, Timeline: []scenarios.Item{at("C"), at("C"), at("B"), at("B")}}
	for onOneNode, want := range map[bool]string{false: "B", true: "CB"} {
		left := ""
		for _, item := range withoutIdle(s, []int{0, 1, 3}, onOneNode).Timeline {
			left += faults.TargetOf(item.Fault)
		}
		if left != want || len(s.Timeline) != 4 {
			t.Errorf("on one node %v: what is left is of %s, want %s", onOneNode, left, want)
		}
	}
}
