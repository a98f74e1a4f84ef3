//go:build linux

package speed

import (
	"time"

	"redlocksim/faults"
	"redlocksim/internal/stall"
	"redlocksim/scenarios"
)

// Disturbing is by how much an overloaded machine must hold a run up to make another scenario of it: a client then comes too
// late for the lease that it was to meet. That is half of the node timeout, since an answer waits for a server and for a
// client, but not more for long node timeouts, since the scenario's moments are no further apart. It is less if a fault
// outlasts the node timeout, or makes one message later than another, by less. Delays below the resolution of the
// measurement never count.
func Disturbing(s *scenarios.Scenario, speed int) time.Duration {
	least := min(nodeTimeout(s, speed), smallestNodeTimeout) / 2
	for i := range s.Timeline {
		if f := s.Timeline[i].Fault; f != nil {
			if apart := faults.LiveOf(f, Deployment(s)).Apart; apart > 0 {
				least = min(least, apart/time.Duration(speed))
			}
		}
	}
	for _, d := range beyondTimeout(s) {
		if more := d/time.Duration(speed) - nodeTimeout(s, speed); more > 0 {
			least = min(least, more)
		}
	}
	return max(least, stall.Resolution)
}
