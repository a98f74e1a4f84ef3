package foreign

import "redlocksim/checker"

// owner finds the holds of one process on a lock with owners. ops are its operations on it.
func (h *recording) owner(e *evidence, ops []int32) {
	held, released, doubt := int32(none), int32(none), noDoubt
	begin := func(i int32) { held = i }
	end := func(to int) {
		if from := at(h.ops[held].ret); from < to {
			e.holds = append(e.holds, hold{from, to, held, held, none})
		} else {
			// Clocks are not exact enough to tell how long it lasted: it may have been an instant.
			e.touches = append(e.touches, touch{to, from, held})
		}
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
