package foreign

import (
	"fmt"
	"math"

	"redlocksim/checker"
)

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
	mode     mode
}

// touch is an operation inside of which the process held the lock at some instant.
type touch struct {
	from, to int
	op       int32
	mode     mode
}

// evidence is what the processes showed on a lock.
type evidence struct {
	holds    []hold
	touches  []touch
	breaches []breach
	// On a lock that several can hold, a process may hold it twice, and in which mode it holds it may depend on what is
	// unknown. again and unclear are the first operations that show such a thing, none if none does; vague says that
	// the process at hand may hold it twice.
	again, unclear int32
	vague          bool
}

// takesAgain notes that a process acquires a lock that it may hold. certain says that it does.
func (e *evidence) takesAgain(op int32, o *operation, certain bool) {
	if o.fn != acquire || o.outcome == failed {
		return
	}
	e.vague = true
	if certain && e.again == none {
		e.again = op
	}
}

// notHeld notes that a process extended or released what it did not hold, unless it held it twice.
func (e *evidence) notHeld(released, op int32) {
	if e.vague && e.again == none {
		e.again = op
	}
	e.breaches = append(e.breaches, conflict(NotHeld, released, op))
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
	// mode is that of the acquires; mixed says that they have several.
	mode  mode
	mixed bool
}

var noDoubt = doubt{unlocked: none}

// settles reports whether the operation succeeded. If its outcome is unknown, it adds to the doubt.
func (d *doubt) settles(i int32, o *operation) bool {
	switch {
	case o.outcome != unknown:
	case o.fn == acquire:
		d.mixed = d.mixed || d.locked && d.mode != o.mode
		d.locked, d.mode = true, o.mode
	case o.fn == release && d.unlocked == none:
		d.unlocked = i
	}
	return o.outcome == ok
}

// wrongMode reports whether an extend or release says another mode than that in which the process holds the lock, or
// with unknown outcome acquired it.
func (e *evidence) wrongMode(op int32, o *operation, held bool, m mode, d doubt) bool {
	if held && d.locked && d.mode != m || !held && d.locked && d.mixed {
		e.unclear = op
	}
	if !held {
		m = d.mode
	}
	return (held || d.locked) && o.mode != unsaid && o.mode != m
}

// unclear is the error of evidence that no verdict can rest on.
func (h *recording) unclear(e *evidence) error {
	switch {
	case e.again != none:
		o := &h.ops[e.again]
		return h.notJudged(o, fmt.Sprintf("process %s may hold %s twice at a time; give each hold a process of its own",
			h.processes.in[o.process], h.lockOf(o)))
	case e.unclear != none:
		o := &h.ops[e.unclear]
		return h.notJudged(o, fmt.Sprintf("in which mode process %s held %s depends on acquires of unknown outcome",
			h.processes.in[o.process], h.lockOf(o)))
	}
	return nil
}

// breach is a rule of the lock that an operation breaks.
type breach struct {
	kind          checker.Kind
	first, second int32 // the operations that conflict; first is none if there is no such
	// basis and proof are those of the hold that first began, if it is of a lock with leases.
	basis, proof int32
	// others are what began the holds of those who held a semaphore beside the first.
	others []int32
}

const none = -1

// conflict is a breach that no hold with a lease is part of.
func conflict(kind checker.Kind, first, second int32) breach {
	return breach{kind: kind, first: first, second: second, basis: none, proof: none}
}

// judgement is what the operations on a lock break.
type judgement struct {
	// breaches has, of the overlaps of holds, the first only; more is how many others there are.
	breaches []breach
	more     int
	// undecided says why it is not known whether there is another breach; empty if it is.
	undecided string
	// err says why a lock that several can hold cannot be judged; nil if it can.
	err error
}

// What is found here beside what the checker itself finds.
const (
	// NotHeld is the finding of a release or extend that succeeded though the lock, as far as anybody can know, was not
	// held, or not by this process.
	NotHeld checker.Kind = "not-held"
	// TokenGap is the finding of a grant without a known token that lies between two whose tokens leave no whole number
	// for it.
	TokenGap checker.Kind = "token-gap"
	// TokenChanged is the finding of a holder that acquires again and gets another token than that of its hold.
	TokenChanged checker.Kind = "token-changed"
)
