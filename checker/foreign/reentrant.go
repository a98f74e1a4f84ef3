package foreign

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
func (h *recording) reentrant(e *evidence, ops []int32) {
	gaps := h.gaps(e, ops)
	h.needs(gaps)
	depth := 0
	var held hold
	for k := range gaps {
		g := &gaps[k]
		if depth > 0 {
			switch free := len(g.releases) - depth; {
			case free >= 0 && g.needs <= g.acquires:
				held.to = at(h.ops[g.releases[depth-1]].call)
				e.holds = append(e.holds, held)
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
			held = hold{at(o.ret), never, g.op, g.op, none, unsaid}
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
				e.touches = append(e.touches, touch{at(o.call), at(o.ret), g.op, unsaid})
			default:
				held.to = at(o.call)
				e.holds = append(e.holds, held)
			}
		}
	}
	if depth > 0 {
		held.to = never
		e.holds = append(e.holds, held)
	}
}

// needs works out how often the lock must be held at each gap.
func (h *recording) needs(gaps []gap) {
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
}

// gaps gives the successful operations with what lies before each, and the end. Those that would need the lock to be
// held, though the process cannot hold it, are breaches and left out.
func (h *recording) gaps(e *evidence, ops []int32) []gap {
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
			e.breaches = append(e.breaches, conflict(NotHeld, released, i))
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
