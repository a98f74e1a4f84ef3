package scenarios_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// A suite that is interrupted has no results.
func TestAnInterruptedSuite(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	results, err := scenarios.Suite(ctx, scenarios.Catalogue()[:2], scenarios.Tiers(), nil, scenarios.Options{}, nil)
	if results != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", results, err)
	}
}

// One that had run all when it was interrupted has them.
func TestASuiteThatIsInterruptedAtItsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	all := scenarios.Catalogue()[:2]
	ran := 0
	results, err := scenarios.Suite(ctx, all, scenarios.Tiers(), nil, scenarios.Options{}, func(int, time.Duration) {
		if ran++; ran == len(all)*len(scenarios.Tiers()) {
			cancel()
		}
	})
	if len(results) != ran || err != nil {
		t.Errorf("%d results of %d, %v", len(results), ran, err)
	}
}

// A run that panics ends no suite: it has a result, which says what it was made with and where it panicked, and so have the
// others.
func TestASuiteWithARunThatPanics(t *testing.T) {
	all := append([]*scenarios.Scenario{panicking()}, scenarios.Catalogue()[:2]...)
	seed := uint64(7)
	results, err := scenarios.Suite(t.Context(), all, scenarios.Tiers(), &seed, scenarios.Options{}, nil)
	if len(results) != len(all)*2 || err != nil {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for i, r := range results {
		of, failed := errors.AsType[*scenarios.RunError](r.Err)
		switch {
		case i >= 2 && !r.OK():
			t.Errorf("%s on %s: %v", r.Scenario.Name, r.Tier, r.Problems)
		case i >= 2:
		case !failed || of.Tier != scenarios.Tiers()[i] || of.Seed != 7 || of.Scenario != all[0]:
			t.Errorf("%v", r.Err)
		case !r.Lost() || r.Verdict() != scenarios.NotJudged || r.Says() != scenarios.NotJudged || r.Ending() != "FAILED":
			t.Errorf("%s, %s, %s", r.Verdict(), r.Says(), r.Ending())
		case !strings.Contains(r.Err.Error(), "\n") || len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Text, "seed 7: panic: ") || strings.Contains(r.Problems[0].Text, "\n"):
			t.Errorf("%v\n%v", r.Err, r.Problems)
		}
	}
}

// panicking is a scenario with a fault that panics.
func panicking() *scenarios.Scenario {
	s := *scenarios.Catalogue()[0]
	s.Name = "at-sea"
	s.Timeline = append(slices.Clone(s.Timeline), scenarios.Item{Kind: "kill", Fault: (*faults.Kill)(nil)})
	return &s
}
