package search

import (
	"os"
	"slices"
	"testing"

	"redlocksim/checker"
	"redlocksim/scenarios"
)

func parsed(t *testing.T, text string) *scenarios.Scenario {
	t.Helper()
	found, err := scenarios.Parse("x.yaml", []byte("title: t\nsource: s\nexplanation: e\nclaim: holds\nexpect: {findings: safe, unavailable: {at-most: 1m}}\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return found[0]
}

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
		r, err := scenarios.Judge(parsed(t, text), scenarios.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(Violations(r.Report), want) || (r.Report.NotTested() != "") != (want == nil) {
			t.Errorf("%v in a run that shows %v, not tested %q", Violations(r.Report), r.Findings, r.Report.NotTested())
		}
	}
}

// Unprotected is looked for as it was found: alone, whether or not the specification objects to something else.
func TestUnprotectedBesideRefinement(t *testing.T) {
	data, err := os.ReadFile("testdata/unprotected-and-refinement.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all, err := scenarios.Parse("x.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	const seed = 7795640294926559
	r, err := scenarios.Judge(all[0], scenarios.Options{Seed: seed})
	if err != nil || !slices.Equal(Violations(r.Report), []checker.Kind{checker.Refinement}) {
		t.Fatalf("%v, %v", Violations(r.Report), err)
	}
	for _, kind := range []checker.Kind{checker.Unprotected, checker.Refinement} {
		v := Violation{Scenario: all[0], Seed: seed, Kind: kind, Beyond: true}
		same, err := v.Same()
		if err != nil {
			t.Fatal(err)
		}
		if is, err := same(all[0]); !is || err != nil {
			t.Errorf("%s: %v, %v", kind, is, err)
		}
	}
}
