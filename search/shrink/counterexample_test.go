package shrink_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/search/shrink"
)

func catalogue(t *testing.T, name string) *scenarios.Scenario {
	t.Helper()
	for _, s := range scenarios.Catalogue() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no scenario %s", name)
	return nil
}

// TestClaims: the claim follows from what was found and from the budget, whatever the scenario said.
func TestClaims(t *testing.T) {
	for _, test := range []struct {
		scenario string
		claim    scenarios.Claim
		says     string
	}{
		{"17-clock-jump", scenarios.Holds, "The faults exceed the budget"},
		{"20-client-clock-steps-back/wall", scenarios.Unsound, "does not hold"},
		{"02-get-then-set", scenarios.Unsound, "does not hold"},
		{"01-setnx-then-expire/a-minute", scenarios.Unsound, "does not hold"}, // a leak
		{"boundaries/pause-holds", scenarios.Holds, "exceed the budget"},      // accepted after expiry, no violation
	} {
		s := *catalogue(t, test.scenario)
		for _, claim := range []scenarios.Claim{scenarios.Holds, scenarios.Unsound} {
			s.Claim = claim
			c, err := shrink.Counterexample(&s, 0)
			if err != nil {
				t.Errorf("%s: %v", test.scenario, err)
				continue
			}
			if c.Claim != test.claim || !strings.Contains(c.Explanation, test.says) || !slices.Equal(c.Expect.Findings, s.Expect.Findings) {
				t.Errorf("%s becomes\n%s", test.scenario, text(t, c))
			}
			for _, tier := range scenarios.Tiers() {
				if r, err := scenarios.Verify(parse(t, text(t, c)), scenarios.Options{Tier: tier}); err != nil || !r.OK() {
					t.Errorf("%s, tier %s: %v, not as expected", test.scenario, tier, err)
				}
			}
		}
	}
}

func TestWhatIsNoCounterexample(t *testing.T) {
	if _, err := shrink.Counterexample(catalogue(t, "09-contention"), 0); !errors.Is(err, shrink.ErrNotConfirmed) {
		t.Errorf("a safe scenario: %v", err)
	}
	// A fault that is not injected is not part of what happened.
	s := *catalogue(t, "17-clock-jump")
	s.Timeline = append(slices.Clone(s.Timeline), s.Timeline[2])
	late := *s.Timeline[2].When.After
	late.Nth = 50
	s.Timeline[4].When.After = &late
	if _, err := shrink.Counterexample(&s, 0); !errors.Is(err, shrink.ErrNotConfirmed) {
		t.Errorf("a fault that is never injected: %v", err)
	}
}

// TestGoTest: the generated test compiles, passes, and fails where the run is not as the scenario says.
func TestGoTest(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles two test binaries")
	}
	c, err := shrink.Counterexample(catalogue(t, "17-clock-jump"), 5)
	if err != nil {
		t.Fatal(err)
	}
	wrong := *c
	wrong.Expect.Grants = slices.Clone(c.Expect.Grants)
	wrong.Expect.Grants[1].Value++
	wrong.Explanation = "with a `quote`"
	for s, passes := range map[*scenarios.Scenario]bool{c: true, &wrong: false} {
		source, err := shrink.GoTest(s, 5)
		if err != nil {
			t.Fatal(err)
		}
		// A package that is there for the compiler only.
		dir := t.TempDir()
		here, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		overlay, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(here, "found", "found_test.go"): filepath.Join(dir, "found_test.go")}})
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{"found_test.go": []byte(source), "overlay.json": overlay} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		binary := filepath.Join(dir, "found.test")
		build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", filepath.Join(dir, "overlay.json"), "-o", binary, "redlocksim/search/shrink/found")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, source)
		}
		out, err := exec.Command(binary, "-test.v").CombinedOutput()
		if (err == nil) != passes || !strings.Contains(string(out), "TestLeaseOverlapSeed5") {
			t.Errorf("passes %v, want %v:\n%s\n%s", err == nil, passes, out, source)
		}
		if !passes && !strings.Contains(string(out), "was granted the lock 1 times, expected 2") {
			t.Errorf("it fails for another reason:\n%s", out)
		}
	}
}
