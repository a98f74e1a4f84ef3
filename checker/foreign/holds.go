package foreign

import (
	"cmp"
	"math"
	"slices"

	"redlocksim/checker"
	"redlocksim/checker/internal/exclusion"
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

// evidence finds the holds of all processes. Operations of a process stay in the order of their calls.
func (h *recording) evidence(ops []int32, o Options) *evidence {
	e := &evidence{}
	byProcess := slices.Clone(ops)
	slices.SortStableFunc(byProcess, func(a, b int32) int { return cmp.Compare(h.ops[a].process, h.ops[b].process) })
	for len(byProcess) > 0 {
		n := 1
		for n < len(byProcess) && h.ops[byProcess[n]].process == h.ops[byProcess[0]].process {
			n++
		}
		switch o.Model {
		case Reentrant, ReentrantFenced:
			h.reentrant(e, byProcess[:n])
		case Lease:
			h.lease(e, byProcess[:n], o.Lease)
		default:
			h.owner(e, byProcess[:n])
		}
		byProcess = byProcess[n:]
	}
	slices.SortFunc(e.holds, func(a, b hold) int { return cmp.Compare(a.from, b.from) })
	slices.SortFunc(e.touches, func(a, b touch) int { return cmp.Compare(a.to, b.to) })
	slices.SortStableFunc(e.breaches, func(a, b breach) int { return cmp.Compare(h.ops[a.second].ret, h.ops[b.second].ret) })
	return e
}

// overlaps returns how many holds begin, and touches lie, inside another process's hold, and the first to be complete.
func (h *recording) overlaps(e *evidence) (*breach, int) {
	count, first := exclusion.Find(
		len(e.holds), func(i int) exclusion.Hold {
			held := &e.holds[i]
			return exclusion.Hold{From: held.from, To: held.to, Owner: int(h.ops[held.op].process)}
		},
		len(e.touches), func(i int) exclusion.Hold {
			t := &e.touches[i]
			return exclusion.Hold{From: t.from, To: t.to, Owner: int(h.ops[t.op].process)}
		})
	if first == nil {
		return nil, 0
	}
	held := &e.holds[first.First]
	var second int32 // the operation that began the other hold, or needed the lock
	if first.IsTouch {
		second = e.touches[first.Second].op
	} else {
		second = e.holds[first.Second].op
	}
	return &breach{checker.LeaseOverlap, held.op, second, held.basis, held.proof}, count
}

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

// owner finds the holds of one process on a lock with owners. ops are its operations on it.
func (h *recording) owner(e *evidence, ops []int32) {
	held, released, doubt := int32(none), int32(none), noDoubt
	begin := func(i int32) { held = i }
	end := func(to int) {
		o := &h.ops[held]
		e.holds = append(e.holds, hold{at(o.ret), to, held, held, none})
		held = none
	}
	for _, i := range ops {
		o := &h.ops[i]
		if !doubt.settles(i, o) {
			continue
		}
		if held != none && doubt.unlocked != none && (doubt.locked || o.fn == acquire) {
			end(at(h.ops[doubt.unlocked].call))
		}
		switch o.fn {
		case acquire:
			if held != none {
				e.breaches = append(e.breaches, breach{checker.LeaseOverlap, held, i, none, none})
			} else {
				begin(i)
			}
		case extend:
			if held == none && doubt.locked {
				begin(i)
			} else if held == none {
				e.breaches = append(e.breaches, breach{NotHeld, released, i, none, none})
			}
		case release:
			switch {
			case held != none:
				end(at(o.call))
			case doubt.locked:
				e.touches = append(e.touches, touch{at(o.call), at(o.ret), i})
			default:
				e.breaches = append(e.breaches, breach{NotHeld, released, i, none, none})
			}
			released = i
		}
		doubt = noDoubt
	}
	if held != none && doubt.unlocked != none {
		end(at(h.ops[doubt.unlocked].call))
	} else if held != none {
		end(never)
	}
}

// never is the place in a history of what does not happen.
const never = math.MaxInt
