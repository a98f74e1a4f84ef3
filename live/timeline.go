//go:build linux

package live

import (
	"context"

	"redlocksim/internal/faketime"
	"redlocksim/live/internal/client"
)

// play carries out the timeline, until the scenario's end or until nothing more can happen.
func (r *run) play(ctx context.Context) error {
	r.start = faketime.MachineTime()
	r.armed = r.scenario.Arm(r.field, r.starts)
	return r.until(ctx, r.start+int64(r.scenario.Duration)/r.speed, r.isOver)
}

// starts has a client begin with an item of the timeline, unless it has crashed.
func (r *run) starts(i int) bool {
	c := r.clientNamed(r.scenario.Timeline[i].Client)
	if c.isUp {
		c.running++
		c.send(client.Order{Run: i + 1})
	}
	return c.isUp
}

// isOver reports that all programs have ended, every fault was injected, and nothing is planned: only keys and leases can still
// expire.
func (r *run) isOver() bool {
	for _, c := range r.clients {
		if c.isUp && c.running > 0 {
			return false
		}
	}
	return r.armed.IsOver() && len(r.agenda) == 0
}
