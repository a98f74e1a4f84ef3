package shrink

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
)

// TestClaims: the claim follows from what was found and from the budget, whatever the scenario said.
func TestClaims(t *testing.T) {
	for _, test := range []struct {
		scenario string
		claim    scenarios.Claim
		says     string
	}{
		{"17-clock-jump", scenarios.Holds, "The faults exceed the budget"},
		{"20-client-clock-steps-back/wall", scenarios.Unsound, "within the budget; the settings are to blame: clients measure with a wall clock"},
		{"02-get-then-set", scenarios.Unsound, "within the budget; the lock is wrong, in its code or its settings"},
		// A leak, and a write that was accepted after its lease had ended, which is no violation.
		{"01-setnx-then-expire/a-minute", scenarios.Unsound, "within the budget; the lock's code is wrong"},
		{"boundaries/pause-holds", scenarios.Holds, "exceed the budget"},
	} {
		s := *scenariotest.Named(t, test.scenario)
		for _, claim := range []scenarios.Claim{scenarios.Holds, scenarios.Unsound} {
			s.Claim = claim
			c, err := counterexample(&s, 0)
			if err != nil {
				t.Errorf("%s: %v", test.scenario, err)
				continue
			}
			if c.Claim != test.claim || !strings.Contains(c.Explanation, test.says) || !slices.Equal(c.Expect.Findings, s.Expect.Findings) {
				t.Errorf("%s becomes\n%s", test.scenario, text(t, c))
			}
			for _, tier := range scenarios.Tiers() {
				if r, err := verdict.Verify(parse(t, text(t, c)), scenarios.Options{Tier: tier}); err != nil || !r.OK() {
					t.Errorf("%s, tier %s: %v, not as expected", test.scenario, tier, err)
				}
			}
		}
	}
}

// A counterexample whose faults exceed the budget claims unsound all the same if it shows what no fault excuses, and tells
// that.
func TestClaimsWithoutExcuse(t *testing.T) {
	s := *scenariotest.Named(t, "04-release-by-get-then-del")
	s.Budget = faults.Budget{}
	c, err := counterexample(&s, 0)
	if err != nil {
		t.Fatal(err)
	}
	if c.Claim != scenarios.Unsound || !strings.Contains(c.Explanation, "deletes the key of") || !strings.Contains(c.Explanation, "That is no excuse; no fault and no setting excuses it: the lock's code is wrong") {
		t.Errorf("%s", text(t, c))
	}
}

func TestWhatIsNoCounterexample(t *testing.T) {
	if _, err := counterexample(scenariotest.Named(t, "09-contention"), 0); !errors.Is(err, errNotConfirmed) {
		t.Errorf("a safe scenario: %v", err)
	}
	// A fault that is not injected is not part of what happened.
	s := *scenariotest.Named(t, "17-clock-jump")
	s.Timeline = append(slices.Clone(s.Timeline), s.Timeline[2])
	late := *s.Timeline[2].When.After
	late.Nth = 50
	s.Timeline[4].When.After = &late
	if _, err := counterexample(&s, 0); !errors.Is(err, errNotConfirmed) {
		t.Errorf("a fault that is never injected: %v", err)
	}
}
