package scenarios_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"redlocksim/scenarios"
)

// A suite that is interrupted has no results.
func TestAnInterruptedSuite(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	results, err := scenarios.Suite(ctx, scenarios.Catalogue()[:2], scenarios.Tiers(), scenarios.Options{}, nil)
	if results != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", results, err)
	}
}

// One that had run all when it was interrupted has them.
func TestASuiteThatIsInterruptedAtItsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	all := scenarios.Catalogue()[:2]
	ran := 0
	results, err := scenarios.Suite(ctx, all, scenarios.Tiers(), scenarios.Options{}, func(int, time.Duration) {
		if ran++; ran == len(all)*len(scenarios.Tiers()) {
			cancel()
		}
	})
	if len(results) != ran || err != nil {
		t.Errorf("%d results of %d, %v", len(results), ran, err)
	}
}
