//go:build linux

package live

import (
	"time"

	"redlocksim/internal/stall"
	"redlocksim/scenarios"
)

// longStep is longer than any step of a timeline takes, such as the start of a server.
const longStep = 500 * time.Millisecond

// disturbing is by how much an overloaded machine must hold a run up to make another scenario of it: a client then comes too
// late for the lease that it was to meet. That is half of the node timeout, since an answer waits for a server and for a
// client, but not more for long node timeouts, since the scenario's moments are no further apart. It is less if a fault
// outlasts the node timeout, or makes one message later than another, by less. Delays below the resolution of the
// measurement never count.
func disturbing(s *scenarios.Scenario, speed int) time.Duration {
	least := min(nodeTimeout(s, speed), smallestNodeTimeout) / 2
	for i := range s.Timeline {
		if f := s.Timeline[i].Fault; f != nil {
			if apart := f.Live(deployment(s)).Apart; apart > 0 {
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

// noteStep notes by how much a step of a run was held up, given when it was due, began and ended, and when the step before
// ended.
func noteStep(m *stall.Meter, due, free, began, ended int64) {
	m.Note(time.Duration(began - max(due, free)))
	if took := time.Duration(ended - began); took > longStep {
		m.Note(took)
	}
}
