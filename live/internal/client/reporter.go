//go:build linux

package client

import (
	"encoding/json"
	"sync"

	"redlocksim/faults"
	"redlocksim/internal/faketime"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
)

// reporter tells the parent what happens, and has the client wait where the timeline may do something.
type reporter struct {
	notices *notices
	stops   []faults.Moment

	mu      sync.Mutex
	waiting map[int]chan struct{} // notices that wait for an order to go on, by their numbers
	waits   int
}

func newReporter(notices *notices, s *scenarios.Scenario) *reporter {
	r := &reporter{notices: notices, waiting: map[int]chan struct{}{}}
	for i := range s.Timeline {
		// What the timeline does at an event of this client must be done before the client continues.
		if item := &s.Timeline[i]; item.When.After != nil && item.When.Plus == 0 {
			r.stops = append(r.stops, *item.When.After)
		}
	}
	return r
}

// tell sends notices, and then waits for orders to continue if the timeline may do something at one of them.
func (r *reporter) tell(notices ...Notice) {
	var stops []chan struct{}
	for _, n := range notices {
		if n.Event != nil && r.isStop(n.Event) {
			goOn := make(chan struct{})
			stops = append(stops, goOn)
			r.mu.Lock()
			r.waits++
			n.Wait = r.waits
			r.waiting[n.Wait] = goOn
			r.mu.Unlock()
		}
		r.notices.send(n)
	}
	for _, goOn := range stops {
		<-goOn
	}
}

func (r *reporter) isStop(e *history.Event) bool {
	for i := range r.stops {
		if r.stops[i].Matches(e) {
			return true
		}
	}
	return false
}

// release lets continue what waits after the notice of this number.
func (r *reporter) release(number int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.waiting[number])
	delete(r.waiting, number)
}

// notices go to the parent process.
type notices struct {
	mu  sync.Mutex
	out *json.Encoder
}

// send sends a notice, with the time.
func (n *notices) send(x Notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	x.At = faketime.MachineTime()
	_ = n.out.Encode(x) // a parent that is gone reads nothing
}
