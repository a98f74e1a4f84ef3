package verdict

import (
	"errors"
	"slices"
	"testing"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/sim/kernel"
)

// Another client is granted the lock from the very moment on at which it was found unprotected, and not before: then the
// monitor would be wrong.
func TestUnprotectedIsConfirmed(t *testing.T) {
	for _, name := range []string{"17-clock-jump", "30-restart-guard-and-clock-steps/forward-trusting-the-node"} {
		s, _ := scenarios.Find(name)
		for _, tier := range scenarios.Tiers() {
			o := scenarios.Options{Tier: tier}
			r, err := Judge(s, o)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(r.Report.Findings, func(f checker.Finding) bool { return f.Kind == checker.Unprotected })
			if i < 0 || slices.Contains(r.Findings, checker.Unprotected) {
				t.Fatalf("%s, tier %s: %v", name, tier, r.Findings)
			}
			f := r.Report.Findings[i]
			if err := s.Probe(o, f.Resource, kernel.True(f.From)); err != nil {
				t.Errorf("%s, tier %s, at %v: %v", name, tier, f.From, err)
			}
			f.From--
			if err := confirm(s, o, checker.Report{Findings: []checker.Finding{f}}); !errors.Is(err, ErrUnconfirmed) {
				t.Errorf("%s, tier %s, at %v: %v", name, tier, f.From, err)
			}
		}
	}
}
