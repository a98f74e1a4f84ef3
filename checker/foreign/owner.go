package foreign

import "redlocksim/checker"

// owner finds the holds of one process on a lock with owners. ops are its operations on it.
func (h *recording) owner(e *evidence, ops []int32) {
	held, released, doubt := int32(none), int32(none), noDoubt
	var in mode // of the hold
	begin := func(i int32, m mode) { held, in = i, m }
	end := func(to int) {
		if from := at(h.ops[held].ret); from < to {
			e.holds = append(e.holds, hold{from, to, held, held, none, in})
		} else {
			// Clocks are not exact enough to tell how long it lasted: it may have been an instant.
			e.touches = append(e.touches, touch{to, from, held, in})
		}
		held = none
	}
	for _, i := range ops {
		o := &h.ops[i]
		e.takesAgain(i, o, held, doubt.unlocked == none)
		if !doubt.settles(i, o) {
			continue
		}
		if o.fn != acquire && e.wrongMode(i, o, held != none, in, doubt) {
			e.notHeld(released, i)
			doubt = noDoubt
			continue
		}
		if held != none && doubt.unlocked != none && (doubt.locked || o.fn == acquire) {
			end(at(h.ops[doubt.unlocked].call))
		}
		switch o.fn {
		case acquire:
			if held != none {
				e.breaches = append(e.breaches, conflict(checker.LeaseOverlap, held, i))
			} else {
				begin(i, o.mode)
			}
		case extend:
			if held == none && doubt.locked {
				begin(i, doubt.mode)
			} else if held == none {
				e.notHeld(released, i)
			}
		case release:
			switch {
			case held != none:
				end(at(o.call))
			case doubt.locked:
				e.touches = append(e.touches, touch{at(o.call), at(o.ret), i, doubt.mode})
			default:
				e.notHeld(released, i)
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
