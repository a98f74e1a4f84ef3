package foreign

import (
	"sort"

	"redlocksim/checker"
)

// ownership follows what one process does on a lock with owners.
type ownership struct {
	*recording
	*evidence
	leased bool // holds end by themselves

	mode     mode  // of the hold
	held     int32 // what began the hold that is on; none if there is none
	basis    int32 // the acquire, or last extend: the lease counts from its call
	proof    int32 // the first success after the end of the lease; none if there is none
	released int32 // the last release; none if there is none
	doubt    doubt
	ended    int // where the last hold ended
}

// ownership finds the holds of one process on a lock with owners. ops are its operations on it.
//
// The lock is the process's until it releases it or, where holds have leases, another takes it, which no other can before the
// lease is over. So a success of the process after that end shows that none did: it held the lock up to that call. Where an
// acquire of unknown outcome lies between, the success may rest on that one instead, and the hold before have ended with its
// lease.
func (h *recording) ownership(e *evidence, ops []int32, leased bool) {
	l := &ownership{recording: h, evidence: e, leased: leased, held: none, released: none, doubt: noDoubt}
	for _, i := range ops {
		o := &h.ops[i]
		if l.held != none {
			over := l.over()
			l.takesAgain(i, o, over == never || o.outcome == ok && at(o.ret) < over)
		}
		if !l.doubt.settles(i, o) {
			continue
		}
		switch {
		case o.fn == acquire && l.held != none && !leased && l.doubt.unlocked == none:
			e.breaches = append(e.breaches, conflict(checker.LeaseOverlap, l.held, i))
		case o.fn == acquire:
			if l.held != none {
				l.end(l.over())
			}
			l.begin(i, o.mode)
		case l.held == none && !l.doubt.locked, l.wrongMode(i, o, l.held != none, l.mode, l.doubt):
			l.notHeld(l.released, i)
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

func (l *ownership) extend(i int32) {
	if l.held != none && l.doubt.locked && l.over() < at(l.ops[i].ret) {
		l.end(l.over())
	}
	if l.held == none {
		l.begin(i, l.doubt.mode)
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
		l.touches = append(l.touches, touch{from, at(l.ops[i].ret), i, l.doubt.mode})
	}
}

func (l *ownership) begin(i int32, m mode) { l.mode, l.held, l.basis, l.proof = m, i, i, none }

// prove notes a success of the holder.
func (l *ownership) prove(i int32) {
	if l.proof == none && l.expiry(l.basis) < at(l.ops[i].call) {
		l.proof = i
	}
}

// over is the earliest place at which the hold can have ended, if no success shows otherwise.
func (l *ownership) over() int {
	end := l.expiry(l.basis)
	if l.doubt.unlocked != none {
		end = min(end, at(l.ops[l.doubt.unlocked].call))
	}
	return end
}

func (l *ownership) end(to int) {
	switch from := at(l.ops[l.held].ret); {
	case from < to:
		l.holds = append(l.holds, hold{from: from, to: to, op: l.held, basis: l.basis, proof: l.proof, mode: l.mode})
	case from < l.ended:
		// It was reported while the hold before, of the same process, was still on.
		l.holds = append(l.holds, hold{from: from, to: from, op: l.held, basis: l.basis, proof: l.proof, mode: l.mode})
	default:
		// The lease was over when it was reported, or clocks are not exact enough to tell how long the hold lasted: the lock
		// was taken at some instant, and perhaps for no longer.
		l.touches = append(l.touches, touch{max(to, l.ended), from, l.held, l.mode})
	}
	l.held, l.ended = none, to
}

// expiry is where the lease ends that counts from the call of an operation: before the first event that is not earlier, so
// that a lease which ends when another begins has ended.
func (l *ownership) expiry(op int32) int {
	if !l.leased {
		return never
	}
	event := l.ops[op].call
	end := l.times[event] + l.ops[op].lease
	if end < l.times[event] {
		return never
	}
	return 2 * sort.Search(len(l.times), func(i int) bool { return l.times[i] >= end })
}
