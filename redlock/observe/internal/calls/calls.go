// Package calls finds the events that belong together: those of an acquire with all its attempts, and of the lease that
// came of it.
//
// An event names the value of its attempt, and each attempt has a value of its own. An attempt is taken for the next one
// of a call that was about to try again if resource, context and number fit. Calls of one context for one resource that
// try again at the same time are not told apart then; they differ in nothing but when they began.
package calls

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"

	"redlocksim/redlock"
)

// Patience is how long after the delay before a retry the next attempt is waited for. No event says that there will be
// none, because the caller gave up during the delay or made a single attempt only.
const Patience = time.Second

// Call is one acquire, and its lease. The tracker does not touch State, which begins
// as its zero value; the other fields may be read where Of or GaveUp
// gives the call.
type Call[T any] struct {
	State  T
	Began  time.Time // when its first attempt began
	Failed time.Time // when the last attempt that failed did
	Err    error     // why it did
	Over   bool      // it ended without a grant, as the error of its last attempt says

	value                   string // of the last attempt
	granted, lost, released bool
	underWay                int // extends and releases
	timer                   *time.Timer
}

// Tracker knows the calls that have not ended. The zero Tracker is ready; it is safe for concurrent use.
type Tracker[T any] struct {
	// GaveUp, unless nil, is told of calls of which only silence says that they ended without a grant, on a goroutine of
	// its own and up to Patience later than they did.
	GaveUp func(*Call[T])

	mu      sync.Mutex
	values  map[string]*Call[T]    // by the value of the last attempt
	waiting map[attempt][]*Call[T] // for their next attempt
}

// attempt is the next one of a call.
type attempt struct {
	ctx      context.Context // nil where contexts of this type cannot be compared
	resource string
	number   int
}

func nextOf(ctx context.Context, resource string, number int) attempt {
	if !reflect.ValueOf(ctx).Comparable() {
		ctx = nil
	}
	return attempt{ctx, resource, number}
}

// Of gives the call that an event belongs to, and nil for one that belongs to none any more. It must be handed every
// event once; only those of single nodes do not matter to it. What a holder does with a lease that it has lost is a call
// of its own.
func (t *Tracker[T]) Of(ctx context.Context, e redlock.Event) *Call[T] {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.Step == redlock.AttemptStarted {
		return t.begin(ctx, e)
	}
	call := t.values[e.Value]
	if call == nil {
		if e.Step != redlock.ReleaseStarted && e.Step != redlock.ExtendStarted {
			return nil
		}
		call = &Call[T]{Began: time.Now(), value: e.Value, granted: true, lost: true}
		t.put(call)
	}
	switch e.Step {
	case redlock.Denied:
		t.deny(e, call)
	case redlock.Retrying:
		next := nextOf(ctx, e.Resource, e.Attempt+1)
		if t.waiting == nil {
			t.waiting = map[attempt][]*Call[T]{}
		}
		t.waiting[next] = append(t.waiting[next], call)
		call.timer.Stop()
		call.timer = t.endAfter(e.Delay+Patience, call, next)
	case redlock.Granted:
		call.granted = true
	case redlock.Lost:
		call.lost = true
	case redlock.ExtendStarted, redlock.ReleaseStarted:
		call.underWay++
	case redlock.Extended, redlock.NotExtended:
		call.underWay--
	case redlock.Released:
		call.underWay--
		call.released = true
	}
	// A lease can be lost before its grant is reported, by a timer that does not wait for a caller who was paused.
	if call.granted && (call.lost || call.released) && call.underWay == 0 {
		delete(t.values, e.Value)
	}
	return call
}

func (t *Tracker[T]) begin(ctx context.Context, e redlock.Event) *Call[T] {
	a := nextOf(ctx, e.Resource, e.Attempt)
	var call *Call[T]
	if all := t.waiting[a]; len(all) > 0 {
		call = all[0]
		t.stopWaiting(a, call)
		call.timer.Stop()
		delete(t.values, call.value)
	} else {
		call = &Call[T]{Began: time.Now()}
	}
	call.value = e.Value
	t.put(call)
	return call
}

func (t *Tracker[T]) put(call *Call[T]) {
	if t.values == nil {
		t.values = map[string]*Call[T]{}
	}
	t.values[call.value] = call
}

func (t *Tracker[T]) deny(e redlock.Event, call *Call[T]) {
	call.Failed, call.Err = time.Now(), e.Err
	if failed := (*redlock.Error)(nil); errors.As(e.Err, &failed) && failed.Cause != nil {
		call.Over = true
		delete(t.values, e.Value)
		return
	}
	call.timer = t.endAfter(Patience, call, attempt{})
}

// endAfter ends a call that no new attempt was made of in the meantime.
func (t *Tracker[T]) endAfter(d time.Duration, call *Call[T], next attempt) *time.Timer {
	value := call.value
	return time.AfterFunc(d, func() {
		t.mu.Lock()
		ends := t.values[value] == call
		if ends {
			delete(t.values, value)
			t.stopWaiting(next, call)
		}
		t.mu.Unlock()
		if ends && t.GaveUp != nil {
			t.GaveUp(call)
		}
	})
}

func (t *Tracker[T]) stopWaiting(a attempt, call *Call[T]) {
	left := slices.DeleteFunc(t.waiting[a], func(c *Call[T]) bool { return c == call })
	if len(left) == 0 {
		delete(t.waiting, a)
	} else {
		t.waiting[a] = left
	}
}
