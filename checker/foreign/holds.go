package foreign

import (
	"math"
	"sort"

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
	resumes  bool // a re-entrant lock may have been the process's ever since its last hold
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
	fences   []fence
	// again is the first operation that shows that a process may hold the lock twice; none if none does.
	again int32
}

// at is the place of an event.
func at(event int32) int {
	if event == noEvent {
		return never
	}
	return 2*int(event) + 1
}

// never is the place in a history of what does not happen.
const never = math.MaxInt

const none = -1

// doubt is what a process has done, with unknown outcome, since its last success.
//
// An operation without a known outcome may have happened, from its call on, at any time up to the end of the process's
// next operation that succeeded, or never; if there is none, at any time. So it is taken to have happened exactly where
// that leaves the lock free for longer, or where the process's own successes cannot be explained otherwise.
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

// as is the mode in which the doubtful acquire took the lock, by an operation that rests on it. If nobody knows, it is the one
// that excludes less.
func (d *doubt) as(said mode) mode {
	switch {
	case said != unsaid:
		return said
	case d.mixed:
		return shared
	}
	return d.mode
}

// ownership follows what one process does on a lock with owners that it holds once at a time.
type ownership struct {
	*recording
	*evidence
	leased bool // holds end by themselves

	mode     mode  // of the hold
	held     int32 // what began the hold that is on; none if there is none
	basis    int32 // the acquire, or last extend: the lease counts from its call
	proof    int32 // the first success after the end of the lease; none if there is none
	released int32 // the last release; none if there is none
	vague    bool  // the process may hold the lock twice
	doubt    doubt
	ended    int // where the last hold ended
}

// ownership finds the holds of one process on a lock with owners. ops are its operations on it.
//
// The lock is the process's until it releases it or, where holds have leases, another takes it, which no other can before the
// lease is over. So a success of the process after that end shows that none did: it held the lock up to that call. Where an
// acquire of unknown outcome lies between, the success may rest on that one instead, and the hold before have ended with its
// lease.
func (h *recording) ownership(e *evidence, ops []int32) {
	l := &ownership{recording: h, evidence: e, leased: h.o.leased(), held: none, released: none, doubt: noDoubt}
	for _, i := range ops {
		o := &h.ops[i]
		if over := l.over(); l.held != none && o.fn == acquire && o.outcome != failed {
			l.vague = true
			if e.again == none && (over == never || o.outcome == ok && at(o.ret) < over) {
				e.again = i
			}
		}
		if !l.doubt.settles(i, o) {
			continue
		}
		switch {
		case o.fn == acquire && l.held != none && !l.leased && l.doubt.unlocked == none:
			e.breaches = append(e.breaches, conflict(checker.LeaseOverlap, l.held, i))
			l.fence(i, at(o.ret))
		case o.fn == acquire:
			if l.held != none {
				l.end(l.over())
			}
			l.begin(i, o.mode)
		case l.held == none && !l.doubt.locked, l.wrongMode(o.mode):
			e.breaches = append(e.breaches, conflict(NotHeld, l.released, i))
			if l.vague && e.again == none {
				e.again = i
			}
		case o.fn == extend:
			l.extend(i)
		default:
			l.release(i)
		}
		if o.fn == release {
			l.released = i
		}
		l.doubt = noDoubt
	}
	if l.held != none {
		l.end(l.over())
	}
}

// wrongMode reports whether an extend or release says another mode than that in which the process has the lock.
func (l *ownership) wrongMode(said mode) bool {
	m, either := l.mode, l.doubt.locked && l.doubt.mode != l.mode
	if l.held == none {
		m, either = l.doubt.mode, l.doubt.mixed
	}
	return !either && said != unsaid && said != m
}

func (l *ownership) extend(i int32) {
	if l.held != none && l.doubt.locked && l.over() < at(l.ops[i].ret) {
		l.end(l.over())
	}
	if l.held == none {
		l.begin(i, l.doubt.as(l.ops[i].mode))
	} else {
		l.prove(i)
		l.basis = i
	}
}

func (l *ownership) release(i int32) {
	from := at(l.ops[i].call)
	if l.held != none && l.doubt.locked && l.over() < from {
		l.end(l.over())
	}
	if l.held != none {
		l.prove(i)
		l.end(from)
	} else {
		l.touches = append(l.touches, touch{from, at(l.ops[i].ret), i, l.doubt.as(l.ops[i].mode)})
	}
}

func (l *ownership) begin(i int32, m mode) { l.mode, l.held, l.basis, l.proof = m, i, i, none }

// prove notes a success of the holder.
func (l *ownership) prove(i int32) {
	if l.proof == none && l.expiry(l.basis) < at(l.ops[i].call) {
		l.proof = i
	}
}

// over is the earliest place at which the hold can have ended, if no success shows otherwise; never without a hold.
func (l *ownership) over() int {
	if l.held == none {
		return never
	}
	end := l.expiry(l.basis)
	if l.doubt.unlocked != none {
		end = min(end, at(l.ops[l.doubt.unlocked].call))
	}
	return end
}

func (l *ownership) end(to int) {
	from := at(l.ops[l.held].ret)
	var over int
	if from < to || from < l.ended {
		// It may have been reported while the hold before, of the same process, was still on.
		over = max(from, to)
		l.holds = append(l.holds, hold{from: from, to: over, op: l.held, basis: l.basis, proof: l.proof, mode: l.mode})
	} else {
		// The lease was over when it was reported, or clocks are not exact enough to tell how long the hold lasted: the lock
		// was taken at some instant, and perhaps for no longer.
		over = max(to, l.ended)
		l.touches = append(l.touches, touch{over, from, l.held, l.mode})
	}
	l.fence(l.held, over)
	l.held, l.ended = none, to
}

// fence notes the token of a grant that was over at a place at the earliest.
func (l *ownership) fence(op int32, over int) {
	if l.ops[op].hasToken() {
		l.fences = append(l.fences, fence{op: op, hold: op, begins: at(l.ops[op].ret), ends: over})
	}
}

// expiry is where the lease ends that counts from the call of an operation: before the first event that is not earlier, so
// that a lease which ends when another begins has ended.
func (l *ownership) expiry(op int32) int {
	if !l.leased {
		return never
	}
	event := l.ops[op].call
	began := l.lines[event].time
	end := began + l.ops[op].lease
	if end < began {
		return never
	}
	return 2 * sort.Search(len(l.lines), func(i int) bool { return l.lines[i].time >= end })
}
