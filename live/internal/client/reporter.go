//go:build linux

package client

import (
	"encoding/json"
	"slices"
	"sync"

	"redlocksim/faults"
	"redlocksim/internal/faketime"
)

// reporter tells the parent what happens, and has the client wait where the timeline may do something.
type reporter struct {
	stops []faults.Moment // where it may

	mu      sync.Mutex
	out     *json.Encoder
	waiting map[int]chan struct{} // notices that wait for an order to go on, by their numbers
	waits   int
}

// tell sends notices, with the time, and then waits for orders to continue if the timeline may do something at one of them.
func (r *reporter) tell(notices ...Notice) {
	var stops []chan struct{}
	r.mu.Lock()
	for _, n := range notices {
		n.At = faketime.MachineTime()
		if n.Event != nil && slices.ContainsFunc(r.stops, func(m faults.Moment) bool { return m.Matches(n.Event) }) {
			goOn := make(chan struct{})
			stops = append(stops, goOn)
			r.waits++
			n.Wait, r.waiting[r.waits] = r.waits, goOn
		}
		_ = r.out.Encode(n) // a parent that is gone reads nothing
	}
	r.mu.Unlock()
	for _, goOn := range stops {
		<-goOn
	}
}

// release lets continue what waits after the notice of this number.
func (r *reporter) release(number int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.waiting[number])
	delete(r.waiting, number)
}
