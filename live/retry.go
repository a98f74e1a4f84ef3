//go:build linux

package live

import (
	"fmt"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/stall"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/storage"
)

// untilUndisturbed runs at these speeds, one after the other, until a run counts, and calls again with each that does not. run
// returns by how much the machine held the run up; 0 for too little to matter. Two runs of somebody's lock with the same
// outcome count all the same, if the second was as slow as they get: it is the lock, and not the machine.
func untilUndisturbed(
	speeds []int,
	foreign bool,
	again func(r *verdict.Result, heldUp time.Duration),
	run func(speed int) (r *verdict.Result, heldUp time.Duration, err error),
) (*verdict.Result, error) {
	before := "" // the outcome of the run before
	for i := 0; ; i++ {
		r, heldUp, err := run(speeds[i])
		if err != nil || r.OK() || heldUp == 0 || isInexcusable(r) || isHopeless(r, heldUp, speeds[i]) || foreign && speeds[i] == speeds[len(speeds)-1] && outcome(r) == before {
			return r, err
		}
		before = outcome(r)
		if i == len(speeds)-1 {
			r.SetDisturbed(fmt.Sprintf("the machine is too busy: it held the run up for %v, as it did %d runs before",
				heldUp.Round(time.Millisecond), i))
			return r, nil
		}
		again(r, heldUp)
	}
}

// hopeless is how many times as long as a stall nobody must get a lock for the stall not to be the reason.
const hopeless = 10

// isHopeless reports that nobody was ever granted the lock of a program, for far longer than the machine stalled.
func isHopeless(r *verdict.Result, heldUp time.Duration, speed int) bool {
	return r.Report.Grants == 0 && r.Longer/time.Duration(speed) > hopeless*heldUp
}

// outcome is what a run of somebody's lock is graded by, and why it was not tested.
func outcome(r *verdict.Result) string { return fmt.Sprint(r.Findings, r.Grades(), r.NotTested) }

// slowing lists the speeds at which a scenario is tried, one after the other.
func slowing(first int) [stall.MaxAttempts]int {
	if first == 1 {
		return [...]int{1, 1, 1, 1, 1}
	}
	return [...]int{first, (first + 1) / 2, 1, 1, 1}
}

// isInexcusable reports an unexpected violation of mutual exclusion at the lock, or a resource with a fence that accepted what
// it should have refused.
func isInexcusable(r *verdict.Result) bool {
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
