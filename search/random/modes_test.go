package random

import (
	"testing"
	"time"

	"redlocksim/search/experiment"
	"redlocksim/search/searchtest"
)

// A search of any protocol on any arrangement of nodes, within the budget and beyond it, ends without a run that fails: what it
// finds is no alarm, but a panic, a run that differs on tier wire and a finding that is not confirmed are.
func TestEveryModeRuns(t *testing.T) {
	t.Parallel()
	for _, base := range searchtest.Settings(t) {
		for _, beyond := range []bool{false, true} {
			space := experiment.NewSpace(base)
			space.Beyond = beyond
			explored(t, space, Options{Seed: 51, Runs: 3, shrinkRuns: 12})
		}
	}
}

// Nor do searches whose settings are drawn.
func TestEveryModeRunsWithDrawnSettings(t *testing.T) {
	t.Parallel()
	for _, beyond := range []bool{false, true} {
		space := experiment.NewSpace(experiment.DefaultBase())
		space.Swarm, space.Beyond = true, beyond
		explored(t, space, Options{Seed: 51, Runs: 60, shrinkRuns: 30})
	}
}

func explored(t *testing.T, space experiment.Space, o Options) {
	t.Helper()
	start := time.Now()
	s, err := Explore(t.Context(), space, o)
	if err != nil || s.Runs != o.Runs {
		t.Errorf("%s, beyond the budget: %v: %v", space.Base.Name, space.Beyond, err)
	}
	t.Logf("%s, beyond the budget: %v: %d violations in %v", space.Base.Name, space.Beyond, s.Violations, time.Since(start))
}
