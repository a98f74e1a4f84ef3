package scenarios_test

import (
	"context"
	"errors"
	"testing"

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
