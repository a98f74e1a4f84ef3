//go:build linux

package live

import (
	"context"

	"redlocksim/faults"
	"redlocksim/internal/faketime"
	"redlocksim/live/internal/messages"
	"redlocksim/live/internal/server"
	"redlocksim/live/internal/storageserver"
	"redlocksim/live/internal/testbed"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
)

// run is a run of a scenario under way.
type run struct {
	*testbed.Testbed
	scenario *scenarios.Scenario
	lock     []string     // the command of a lock program; nil if there is none
	oneNode  bool         // which uses one node alone
	kind     *server.Kind // of the servers
	field    *faults.Field
	running  map[*testbed.Client]int // programs that they have not finished
	start    int64                   // CLOCK_MONOTONIC at true time 0
	storage  *storageserver.Server
	items    []item
	// beliefs are followed if the timeline waits for the end of one; beliefEnd is when the next one ends.
	beliefs   *testbed.Beliefs
	beliefEnd *testbed.Moment
}

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
			r.After(r.start, when.At, func() { r.fire(i) })
		}
	}
	if r.scenario.Heal != nil {
		r.After(r.start, *r.scenario.Heal, r.field.Heal)
	}
	return r.Until(ctx, r.start+int64(r.scenario.Duration)/r.Speed, r.isOver)
}

// isOver reports that all programs have ended, every fault was injected, and nothing is planned: only keys and leases can still
// expire.
func (r *run) isOver() bool {
	for _, c := range r.Clients {
		if c.IsUp() && r.running[c] > 0 {
			return false
		}
	}
	for i := range r.items {
		if !r.items[i].fired {
			return false
		}
	}
	return r.IsIdle()
}

// beliefEnded is the timeline's name for the end of a believed window.
var beliefEnded = faults.EventName(&history.Event{Kind: history.Expire})

// learn fires the items of the timeline that wait for an entry of the record, or for what follows from it.
func (r *run) learn(e testbed.Entry) {
	if e.Event != nil {
		r.follow(e.At, e.Event)
	}
	if r.beliefs != nil {
		r.beliefs.Take(e)
		r.endBeliefs()
	}
}

// endBeliefs fires the items that wait for the ends of beliefs that have ended, and plans the next call.
func (r *run) endBeliefs() {
	r.Drop(r.beliefEnd)
	for {
		w, isOver := r.beliefs.Over(faketime.MachineTime())
		if !isOver {
			break
		}
		e := w.Expiry()
		r.follow(w.Ends, &e)
	}
	if next := r.beliefs.Next(); next != faketime.Never {
		r.beliefEnd = r.When(next, r.endBeliefs)
	}
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
			r.After(at, when.Plus, func() { r.fire(i) })
		default:
			r.fire(i)
		}
	}
}

// fire carries out an item of the timeline: it starts a client's program or injects a fault.
func (r *run) fire(i int) {
	it, x := &r.scenario.Timeline[i], &r.items[i]
	if it.Fault == nil {
		if c := r.ClientNamed(it.Client); c.IsUp() {
			x.fired = true
			r.running[c]++
			c.Send(messages.Order{Run: i + 1})
		}
		return
	}
	x.fired = true
	x.fault.Fire(r.field)
}

// close ends everything that was started and removes the files.
func (r *run) close() error {
	err := r.Testbed.Close()
	if r.storage != nil {
		r.storage.Close()
	}
	return err
}
