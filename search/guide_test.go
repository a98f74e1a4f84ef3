package search

import (
	"context"
	"testing"
	"time"

	"redlocksim/scenarios"
)

// A planted bug at a boundary, a drift allowance of half of what the clocks need, is approached faster by going on from
// narrow escapes than by drawing blindly: after the same number of runs the smallest margin is smaller.
func TestMarginsGuide(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of runs")
	}
	base, err := scenarios.ParseSettings("x.yaml", []byte(`
lock: {ttl: 2s, drift: {factor: 0.5%, constant: 0s}}
budget: {clock-rate: 0.5%, delay: 100ms, pause: 200ms, restart-delay: 2s}
`))
	if err != nil {
		t.Fatal(err)
	}
	var guided, blind time.Duration
	for seed := range uint64(3) {
		for _, isBlind := range []bool{false, true} {
			sum, err := Explore(context.Background(), NewSpace(base), Options{Seed: seed, Runs: 750, Generation: 125, Blind: isBlind, shrinkRuns: 1})
			if err != nil {
				t.Fatal(err)
			}
			slack := sum.Narrowest.Slack()
			t.Logf("seed %d, blind %v: %v, %d violations", seed, isBlind, slack, sum.Violations)
			if isBlind {
				blind += slack
			} else {
				guided += slack
			}
		}
	}
	if guided >= blind {
		t.Errorf("the smallest margins are %v with guidance and %v without, together", guided, blind)
	}
}
