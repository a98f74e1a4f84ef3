package scenarios_test

import (
	"slices"
	"strings"
	"testing"

	"redlocksim/scenarios"
)

// guarded is a scenario of a resource that checks what it is sent; steps are what both clients do, of which the first is paused
// after its last look at the lease.
func guarded(t *testing.T, keys, steps, pause string) (*scenarios.Scenario, string) {
	t.Helper()
	text := "title: t\nsource: s\nexplanation: e\nclaim: holds\nclients: [client-1, client-2]\n" + keys + `
timeline:
  - {at: 0s, client: client-1, do: [try-lock, ` + steps + `]}
  - {at: 1s, client: client-2, do: [lock, ` + steps + `]}
` + pause + `duration: 40s
expect: {findings: safe, unavailable: {at-most: 20s}}
`
	found, warnings, err := scenarios.Lint("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, w := range warnings {
		said = append(said, w.Error())
	}
	return found[0], strings.Join(said, "; ")
}

// A resource that compares nothing of two holders proves nothing, whatever it refuses: the run is not tested, and lint says so
// before where that can be known.
func TestResourceThatChecksNothing(t *testing.T) {
	const (
		atWrite = "  - {after: {client: client-1, event: checked}, fault: {pause: {process: client-1, for: 15s}}}\n"
		atMark  = "  - {after: {client: client-1, event: checked, nth: 2}, fault: {pause: {process: client-1, for: 15s}}}\n"
	)
	for _, test := range []struct {
		name, keys, steps, pause string
		untested, warns          string // parts of what is said; empty if nothing is
		findings                 string
	}{
		{"table without tokens", "storage: table", "write, unlock", atWrite, "refused every write, 2 in all", "gives none: it refuses every write", "safe"},
		{"table without tokens, and nothing goes wrong", "storage: table", "update, unlock", "", "refused every write, 2 in all", "gives none", "safe"},
		{"table with tokens", "storage: table\nlock: {fencing: true}", "write, unlock", atWrite, "", "", "safe"},
		{"table with two writes under a token", "storage: table\nlock: {fencing: true}", "write, write, unlock", "", "", "", "holder-refused"},
		{"compare-and-set without a mark", "storage: compare-and-set", "write, unlock", atWrite, "none carried a mark, which the step mark sets", "no step sets one (mark)", "safe"},
		{"compare-and-set with a mark", "storage: compare-and-set", "mark, write, sleep: 5s", atMark, "", "", "safe"},
		{"a fence that no token reaches", "storage: fenced", "write, unlock", "", "accepted 2 writes and compared nothing", "it accepts everything", "safe"},
		{"a fence that a late write passes", "storage: fenced", "write, unlock", atWrite, "", "it accepts everything", "stale-write"},
		{"a fence that nobody writes to", "storage: fenced\nlock: {fencing: true}", "hold: 1s, unlock", "", "was reached by no request", "no step writes", "safe"},
		{"a fence with tokens", "storage: fenced\nlock: {fencing: true}", "write, unlock", "", "", "", "safe"},
		{"a fence of a service that gives tokens", "storage: fenced-writes\nlock: {protocol: consensus}\nnodes: {names: [A, B, C]}", "write, unlock", "", "", "", "safe"},
		{"a fence that one holder reaches", "storage: fenced\nlock: {fencing: true}", "write, renew: 1m", "", "was reached by one holder only", "", "safe"},
		{"no check", "storage: register", "write, unlock", "", "", "", "safe"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, said := guarded(t, test.keys, test.steps, test.pause)
			if (test.warns == "") != (said == "") || !strings.Contains(said, test.warns) {
				t.Errorf("lint says %q, want %q", said, test.warns)
			}
			for _, tier := range scenarios.Tiers() {
				r, err := scenarios.Judge(s, scenarios.Options{Tier: tier})
				if err != nil {
					t.Fatal(err)
				}
				if (test.untested == "") != (r.NotTested == nil) || !strings.Contains(strings.Join(r.NotTested, "; "), test.untested) {
					t.Errorf("tier %s: not tested: %q, want %q", tier, r.NotTested, test.untested)
				}
				if got := r.Findings.String(); got != test.findings {
					t.Errorf("tier %s: found %s, want %s", tier, got, test.findings)
				}
				if is := slices.ContainsFunc(r.Problems, func(p scenarios.Problem) bool { return p.Class == scenarios.NotTested }); is != (test.untested != "") {
					t.Errorf("tier %s: %v", tier, r.Problems)
				}
			}
		})
	}
}
