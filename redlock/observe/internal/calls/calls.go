// Package calls keeps what an observer knows of a call: of an acquire with all its attempts, and of the lease that came of
// it.
package calls

import (
	"sync"
	"time"

	"redlocksim/redlock/observe"
)

// Call is one acquire, and its lease. The tracker does not touch State, which begins as its zero value.
type Call[T any] struct {
	State T
	// Began is when the call was queued or its first attempt began; of a lease that was lost before, when its holder used it.
	Began time.Time

	granted, lost, released bool
	underWay                int // extends and releases
}

// Tracker knows the calls that have not ended. The zero Tracker is ready; it is safe for concurrent use.
type Tracker[T any] struct {
	mu    sync.Mutex
	calls map[string]*Call[T] // by Event.Call
}

// Of gives the call that an event belongs to, and nil for one that belongs to none any more. It must be handed every
// event once; only those of single nodes do not matter to it. What a holder does with a lease that it has lost is a call
// of its own.
func (t *Tracker[T]) Of(e observe.Event) *Call[T] {
	t.mu.Lock()
	defer t.mu.Unlock()
	call := t.calls[e.Call]
	if call == nil {
		switch {
		case e.Step == observe.Queued && e.Attempt == 0, e.Step == observe.AttemptStarted && e.Attempt == 1:
			call = t.begin(e)
		case e.Step == observe.ReleaseStarted, e.Step == observe.ExtendStarted:
			call = t.begin(e)
			call.granted, call.lost = true, true
		default:
			return nil
		}
	}
	switch e.Step {
	case observe.Granted:
		call.granted = true
	case observe.Lost:
		call.lost = true
	case observe.ExtendStarted, observe.ReleaseStarted:
		call.underWay++
	case observe.Extended, observe.NotExtended:
		call.underWay--
	case observe.Released:
		call.underWay--
		call.released = true
	}
	// A lease can be lost before its grant is reported, by a timer that does not wait for a caller who was paused.
	if e.Step == observe.GaveUp || call.granted && (call.lost || call.released) && call.underWay == 0 {
		delete(t.calls, e.Call)
	}
	return call
}

func (t *Tracker[T]) begin(e observe.Event) *Call[T] {
	call := &Call[T]{Began: time.Now()}
	if t.calls == nil {
		t.calls = map[string]*Call[T]{}
	}
	t.calls[e.Call] = call
	return call
}
