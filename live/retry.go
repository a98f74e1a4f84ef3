//go:build linux

package live

import (
	"fmt"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/stall"
	"redlocksim/scenarios"
	"redlocksim/sim/storage"
)

// untilUndisturbed runs at these speeds, one after the other, until a run counts, and calls again with each that does not. run
// returns by how much the machine held the run up; 0 for too little to matter. What two runs of somebody's lock come to, or
// fail to come to for the same reason, stalls are not to blame for.
func untilUndisturbed(
	speeds []int,
	foreign bool,
	again func(r *scenarios.Result, heldUp time.Duration),
	run func(speed int) (r *scenarios.Result, heldUp time.Duration, err error),
) (*scenarios.Result, error) {
	before := "" // what the run before came to
	for i := 0; ; i++ {
		r, heldUp, err := run(speeds[i])
		if err != nil || r.OK() || heldUp == 0 || isInexcusable(r, heldUp) || foreign && cameTo(r) == before {
			return r, err
		}
		before = cameTo(r)
		if i == len(speeds)-1 {
			r.SetNotTested(fmt.Sprintf("the machine is too busy: it held the run up for %v, as it did %d runs before",
				heldUp.Round(time.Millisecond), i))
			return r, nil
		}
		again(r, heldUp)
	}
}

// cameTo is what a run that is not as expected came to.
func cameTo(r *scenarios.Result) string { return fmt.Sprint(r.Findings, r.NotTested, r.Longer > 0) }

// slowing lists the speeds at which a scenario is tried, one after the other.
func slowing(first int) [stall.MaxAttempts]int {
	if first == 1 {
		return [...]int{1, 1, 1, 1, 1}
	}
	return [...]int{first, (first + 1) / 2, 1, 1, 1}
}

// lasting is how many times as long as a stall a lock must be unavailable for the stall not to be the reason.
const lasting = 50

// isInexcusable reports an unexpected violation of mutual exclusion at the lock, a resource with a fence that accepted what
// it should have refused, or a lock program that was unavailable for far longer than the machine stalled.
func isInexcusable(r *scenarios.Result, heldUp time.Duration) bool {
	if r.Longer > lasting*heldUp {
		return true
	}
	for _, kind := range r.Findings {
		switch kind {
		case checker.LeaseOverlap, checker.TokenRegressed, checker.TokenRepeated:
		case checker.StaleWrite:
			if kind := r.Scenario.Storage; kind != storage.Fenced && kind != storage.FencedWrites {
				continue
			}
		default:
			continue
		}
		if !slices.Contains(r.Scenario.Expect.Findings, kind) {
			return true
		}
	}
	return false
}
