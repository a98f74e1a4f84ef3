//go:build linux

package testbed

import (
	"slices"

	"redlocksim/internal/faketime"
	"redlocksim/live/internal/messages"
	"redlocksim/sim/history"
)

// Entry is something that happened in a run, at a reading of CLOCK_MONOTONIC: an event, or something from which the ends of
// believed windows follow.
type Entry struct {
	At      int64
	Process string
	Event   *history.Event
	Belief  *messages.Belief
	Clock   *faketime.Skew // what the client's lock clock reads from then on
}

// Window is a grant that its client believes in.
type Window struct {
	Ends     int64 // CLOCK_MONOTONIC, unless the clock is changed
	process  string
	resource string
	grant    int
	until    int64 // by the lock clock
}

// Expiry is the event of the end of a believed window.
func (w Window) Expiry() history.Event {
	return history.Event{Kind: history.Expire, Process: w.process, Resource: w.resource, Grant: w.grant}
}

// Beliefs are the grants that clients believe in, according to the entries so far. A believed window ends when the lock clock
// first reads its last acknowledged expiry, whether or not its client is running.
type Beliefs struct {
	clocks map[string]faketime.Skew // the lock clocks by client, except those that are CLOCK_MONOTONIC
	died   map[string]int64         // when each client last crashed; 0 if it never did
	open   []Window
}

// NewBeliefs makes an empty set.
func NewBeliefs() *Beliefs {
	return &Beliefs{clocks: map[string]faketime.Skew{}, died: map[string]int64{}}
}

// Take learns from an entry. Windows that ended before it must have been removed. What a client said before it crashed may be
// read after that, and opens nothing.
func (b *Beliefs) Take(e Entry) {
	switch {
	case e.Belief != nil:
		b.open = slices.DeleteFunc(b.open, func(w Window) bool { return w.grant == e.Belief.Grant })
		if e.Belief.Until != 0 && e.At > b.died[e.Process] {
			w := Window{process: e.Process, resource: e.Belief.Resource, grant: e.Belief.Grant, until: e.Belief.Until}
			w.Ends = max(b.clocks[e.Process].When(w.until), e.At)
			b.open = append(b.open, w)
		}
	case e.Clock != nil:
		b.clocks[e.Process] = *e.Clock
		for i := range b.open {
			if w := &b.open[i]; w.process == e.Process {
				w.Ends = max(e.Clock.When(w.until), e.At)
			}
		}
	case e.Event != nil && e.Event.Kind == history.Crash:
		b.died[e.Process] = e.At
		b.open = slices.DeleteFunc(b.open, func(w Window) bool { return w.process == e.Process })
	}
}

// Over removes the window that ended first, if one has ended by now.
func (b *Beliefs) Over(now int64) (Window, bool) {
	first := b.first()
	if first < 0 || b.open[first].Ends > now {
		return Window{}, false
	}
	w := b.open[first]
	b.open = slices.Delete(b.open, first, first+1)
	return w, true
}

// Next is when the next window ends; Never if none does.
func (b *Beliefs) Next() int64 {
	if first := b.first(); first >= 0 {
		return b.open[first].Ends
	}
	return faketime.Never
}

// first is the window that ends first; -1 if there is none.
func (b *Beliefs) first() int {
	first := -1
	for i, w := range b.open {
		if first < 0 || w.Ends < b.open[first].Ends {
			first = i
		}
	}
	return first
}
