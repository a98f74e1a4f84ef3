package foreign

import (
	"sort"
	"time"

	"redlocksim/checker"
)

// An operation without a known outcome may have happened, from its call on, at any time up to the end of the process's
// next operation that succeeded, or never; if there is none, at any time. So it is taken to have happened exactly where
// that leaves the lock free for longer, or where the process's own successes cannot be explained otherwise.

// owner finds the holds of one process on a lock with owners. ops are its operations on it.
func (h *recording) owner(c *claims, ops []int32) {
	held, released := int32(none), int32(none)
	// What happened, with unknown outcome, since the last success.
	unlocked, locked := int32(none), false
	begin := func(i int32) { held = i }
	end := func(to int) {
		o := &h.ops[held]
		c.holds = append(c.holds, hold{at(o.ret), to, held, held, none})
		held = none
	}
	for _, i := range ops {
		o := &h.ops[i]
		switch {
		case o.outcome == failed:
			continue
		case o.outcome == unknown:
			if o.fn == acquire {
				locked = true
			} else if o.fn == release && unlocked == none {
				unlocked = i
			}
			continue
		case held != none && unlocked != none && (locked || o.fn == acquire):
			end(at(h.ops[unlocked].call))
		}
		switch o.fn {
		case acquire:
			if held != none {
				c.faults = append(c.faults, fault{checker.LeaseOverlap, held, i, none, none})
			} else {
				begin(i)
			}
		case extend:
			if held == none && locked {
				begin(i)
			} else if held == none {
				c.faults = append(c.faults, fault{NotHeld, released, i, none, none})
			}
		case release:
			switch {
			case held != none:
				end(at(o.call))
			case locked:
				c.touches = append(c.touches, touch{at(o.call), at(o.ret), i})
			default:
				c.faults = append(c.faults, fault{NotHeld, released, i, none, none})
			}
			released = i
		}
		unlocked, locked = none, false
	}
	if held != none && unlocked != none {
		end(at(h.ops[unlocked].call))
	} else if held != none {
		end(never)
	}
}

// gap is what a process did with unknown outcome before an operation that succeeded, or before the end.
type gap struct {
	op       int32 // the operation; none at the end
	releases []int32
	acquires int
	// needs is how often the lock must be held before op for it and all later ones to be possible.
	needs int
}

// reentrant finds the holds of one process on a re-entrant lock.
//
// How often it holds the lock is known but for what has an unknown outcome. The lower it is the sooner the lock is free,
// so it is taken to be, after each operation, as low as the later successes allow: first a pass forward, to turn down
// those that nothing allows, then one backward for the least that is needed, and one forward for the holds.
func (h *recording) reentrant(c *claims, ops []int32) {
	gaps := h.gaps(c, ops)
	needs := 0
	for k := len(gaps) - 1; k >= 0; k-- {
		g := &gaps[k]
		if g.op != none {
			switch h.ops[g.op].fn {
			case acquire:
				needs = max(0, needs-1)
			case extend:
				needs = max(1, needs)
			case release:
				needs++
			}
		}
		g.needs = needs
		needs = max(0, needs-g.acquires)
	}
	depth := 0
	var held hold
	for k := range gaps {
		g := &gaps[k]
		if depth > 0 {
			switch free := len(g.releases) - depth; {
			case free >= 0 && g.needs <= g.acquires:
				held.to = at(h.ops[g.releases[depth-1]].call)
				c.holds = append(c.holds, held)
				depth = 0
			case free >= 0:
				depth = g.needs
			default:
				depth = max(g.needs, -free)
			}
		}
		if g.op == none {
			break
		}
		o := &h.ops[g.op]
		begins := depth == 0
		if begins {
			held = hold{at(o.ret), never, g.op, g.op, none}
			depth = g.needs
		}
		switch o.fn {
		case acquire:
			depth++
		case release:
			depth--
			switch {
			case depth > 0:
			case begins:
				c.touches = append(c.touches, touch{at(o.call), at(o.ret), g.op})
			default:
				held.to = at(o.call)
				c.holds = append(c.holds, held)
			}
		}
	}
	if depth > 0 {
		held.to = never
		c.holds = append(c.holds, held)
	}
}

// gaps gives the successful operations with what lies before each, and the end. Those that would need the lock to be
// held, though the process cannot hold it, are faults and left out.
func (h *recording) gaps(c *claims, ops []int32) []gap {
	var gaps []gap
	most, released := 0, int32(none)
	next := gap{op: none}
	for _, i := range ops {
		o := &h.ops[i]
		switch {
		case o.outcome == failed:
			continue
		case o.outcome == unknown:
			if o.fn == acquire {
				next.acquires++
				most++
			} else if o.fn == release {
				next.releases = append(next.releases, i)
			}
			continue
		case o.fn == acquire:
			most++
		case most == 0:
			c.faults = append(c.faults, fault{NotHeld, released, i, none, none})
			continue
		case o.fn == release:
			most--
			released = i
		}
		next.op = i
		gaps = append(gaps, next)
		next = gap{op: none}
	}
	return append(gaps, next)
}

// lease finds the holds of one process on a lock with leases of length.
//
// The lock is the process's until it releases it or another takes it, which no other can before the lease is over. So a
// success of the process after that end shows that none did: it held the lock up to that call. Where an acquire of unknown
// outcome lies between, the success may rest on that one instead, and the hold before have ended with its lease.
func (h *recording) lease(c *claims, ops []int32, length time.Duration) {
	var (
		held     = int32(none) // what began the hold that is on
		basis    = int32(none) // the acquire, or last extend: the lease counts from its call
		proof    = int32(none) // the first success after the end of the lease
		released = int32(none)
		// What happened, with unknown outcome, since the last success.
		unlocked, locked = int32(none), false
	)
	// over is where the hold can have ended at the earliest, if no success shows otherwise.
	over := func() int {
		end := h.expiry(h.ops[basis].call, length)
		if unlocked != none {
			end = min(end, at(h.ops[unlocked].call))
		}
		return end
	}
	end := func(to int) {
		o := &h.ops[held]
		if from := at(o.ret); from < to {
			c.holds = append(c.holds, hold{from: from, to: to, op: held, basis: basis, proof: proof})
		} else {
			// The lease was over when it was reported: the lock was taken at some instant, and for no longer.
			c.touches = append(c.touches, touch{to, from, held})
		}
		held = none
	}
	begin := func(i int32) { held, basis, proof = i, i, none }
	// prove enters a success of the holder's.
	prove := func(i int32) {
		if proof == none && h.expiry(h.ops[basis].call, length) < at(h.ops[i].call) {
			proof = i
		}
	}
	for _, i := range ops {
		o := &h.ops[i]
		switch {
		case o.outcome == failed:
			continue
		case o.outcome == unknown:
			if o.fn == acquire {
				locked = true
			} else if o.fn == release && unlocked == none {
				unlocked = i
			}
			continue
		}
		switch {
		case o.fn == acquire:
			if held != none {
				end(over())
			}
			begin(i)
		case held == none && !locked:
			c.faults = append(c.faults, fault{NotHeld, released, i, none, none})
		case o.fn == extend:
			if held != none && locked && over() < at(o.ret) {
				end(over())
			}
			if held == none {
				begin(i)
			} else {
				prove(i)
				basis = i
			}
		default:
			from := at(o.call)
			if held != none && locked && over() < from {
				end(over())
			}
			if held != none {
				prove(i)
				end(from)
			} else {
				c.touches = append(c.touches, touch{from, at(o.ret), i})
			}
		}
		if o.fn == release {
			released = i
		}
		unlocked, locked = none, false
	}
	if held != none {
		end(over())
	}
}

// expiry is where a lease of this length ends that counts from event: before the first event that is not earlier, so
// that a lease which ends when another begins has ended.
func (h *recording) expiry(event int32, length time.Duration) int {
	end := h.times[event] + int64(length)
	if end < h.times[event] {
		return never
	}
	return 2 * sort.Search(len(h.times), func(i int) bool { return h.times[i] >= end })
}
