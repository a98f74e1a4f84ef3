package foreign

import "math"

// hold is a stretch in which a process certainly held the lock: its minimal hold, from the return of the operation that
// began it to the call of the one that ended it, or to the end of the lease.
//
// from and to are places between the events: event number i is at 2i+1, and 2i is just before it, where leases end that
// end between it and the event before, or at the very time of it.
type hold struct {
	from, to int
	op       int32 // whose return is from
	basis    int32 // the acquire or extend from which the lease counts; op for locks without
	proof    int32 // the success that shows that the hold went on beyond its lease; none if it did not
}

// touch is an operation inside of which the process held the lock at some instant.
type touch struct {
	from, to int
	op       int32
}

// evidence is what the processes showed on a lock.
type evidence struct {
	holds    []hold
	touches  []touch
	breaches []breach
}

func at(event int32) int {
	if event == noEvent {
		return never
	}
	return 2*int(event) + 1
}

// never is the place in a history of what does not happen.
const never = math.MaxInt

// An operation without a known outcome may have happened, from its call on, at any time up to the end of the process's
// next operation that succeeded, or never; if there is none, at any time. So it is taken to have happened exactly where
// that leaves the lock free for longer, or where the process's own successes cannot be explained otherwise.

// doubt is what a process has done, with unknown outcome, since its last success.
type doubt struct {
	locked   bool  // an acquire
	unlocked int32 // the first release; none if there is none
}

var noDoubt = doubt{unlocked: none}

// settles reports whether the operation succeeded. If its outcome is unknown, it adds to the doubt.
func (d *doubt) settles(i int32, o *operation) bool {
	switch {
	case o.outcome != unknown:
	case o.fn == acquire:
		d.locked = true
	case o.fn == release && d.unlocked == none:
		d.unlocked = i
	}
	return o.outcome == ok
}
