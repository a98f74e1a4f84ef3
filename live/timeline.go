//go:build linux

package live

import (
	"context"

	"redlocksim/faults"
	"redlocksim/internal/faketime"
	"redlocksim/live/internal/client"
	"redlocksim/sim/history"
)

// item is what became of an item of the timeline.
type item struct {
	seen  int // events that match its moment
	fired bool
	fault faults.Placed // if it is one
}

// play carries out the timeline, until the scenario's end or until nothing more can happen.
func (r *run) play(ctx context.Context) error {
	r.start = faketime.MachineTime()
	for i := range r.scenario.Timeline {
		if when := r.scenario.Timeline[i].When; when.After == nil {
			r.plan(r.start, when.At, func() { r.fire(i) })
		}
	}
	if r.scenario.Heal != nil {
		r.plan(r.start, *r.scenario.Heal, r.field.Heal)
	}
	return r.until(ctx, r.start+int64(r.scenario.Duration)/r.speed, r.isOver)
}

// isOver reports that all programs have ended, every fault was injected, and nothing is planned: only keys and leases can still
// expire.
func (r *run) isOver() bool {
	for _, c := range r.clients {
		if c.isUp && c.running > 0 {
			return false
		}
	}
	for i := range r.items {
		if !r.items[i].fired {
			return false
		}
	}
	return len(r.agenda) == 0
}

// follow fires the items that wait for an event.
func (r *run) follow(at int64, e *history.Event) {
	for i := range r.scenario.Timeline {
		when, x := r.scenario.Timeline[i].When, &r.items[i]
		if when.After == nil || !when.After.Matches(e) {
			continue
		}
		x.seen++
		nth := max(when.After.Nth, 1)
		switch {
		case x.seen < nth || x.seen > nth && !when.Every:
		case when.Plus > 0:
			r.plan(at, when.Plus, func() { r.fire(i) })
		default:
			r.fire(i)
		}
	}
}

// fire carries out an item of the timeline: it starts a client's program or injects a fault.
func (r *run) fire(i int) {
	it, x := &r.scenario.Timeline[i], &r.items[i]
	if it.Fault == nil {
		if c := r.clientNamed(it.Client); c.isUp {
			x.fired = true
			c.running++
			c.send(client.Order{Run: i + 1})
		}
		return
	}
	x.fired = true
	x.fault.Fire(r.field)
}
