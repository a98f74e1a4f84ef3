//go:build linux

package live

import (
	"time"

	"redlocksim/internal/undisturbed"
	"redlocksim/scenarios"
)

// A machine that is busy with other things holds processes up, and a run then shows another scenario than the one that was
// to be played: a client comes too late for the lease it was to meet. So it is measured by how much things were held up.
// longStep is more than a step of the timeline takes, such as the start of a server.
const longStep = 500 * time.Millisecond

// disturbing is how long a scenario must be held up at a speed to be another one: half of the node timeout, as an answer waits
// for a server and for its client, but no more for clients that wait for long, as the moments of the others are as close
// together for them. It is less where a fault lasts for little more than the node timeout, or makes one message later than
// another by less; but what is less than a pulse is met on an idle machine, too.
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
	return max(least, undisturbed.PulseEvery)
}

// noteStep notes that a step of a run that was due at a moment began and ended; the one before it ended at free.
func noteStep(p *undisturbed.Pulse, due, free, began, ended int64) {
	p.Add(time.Duration(began - max(due, free)))
	if took := time.Duration(ended - began); took > longStep {
		p.Add(took)
	}
}
