package foreign

// gap is what a process did with unknown outcome before an operation that succeeded, or before the end.
type gap struct {
	op       int32 // the operation; none at the end
	releases []int32
	acquires int
	// needs is how often the lock must be held before op for it and all later ones to be possible, and most how often it can
	// be.
	needs, most int
}

// reentrant finds the holds of one process on a re-entrant lock.
//
// How often it holds the lock is known but for what has an unknown outcome. The lower it is the sooner the lock is free,
// so it is taken to be, after each operation, as low as the later successes allow: first a pass forward, to turn down
// those that nothing allows, then one backward for the least that is needed, and one forward for the holds.
func (h *recording) reentrant(e *evidence, ops []int32) {
	gaps := h.gaps(e, ops)
	h.needs(gaps)
	depth, fenced := 0, len(e.fences)
	held := hold{basis: none, proof: none}
	end := func(to int) {
		held.to = to
		e.holds = append(e.holds, held)
		for ; fenced < len(e.fences); fenced++ {
			e.fences[fenced].ends = to
		}
	}
	for k := range gaps {
		g := &gaps[k]
		if depth > 0 {
			switch free := len(g.releases) - depth; {
			case free >= 0 && g.needs <= g.acquires:
				end(at(h.ops[g.releases[depth-1]].call))
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
			held.from, held.op, held.resumes = at(o.ret), g.op, g.most > 0
			depth = g.needs
		}
		switch o.fn {
		case acquire:
			depth++
			if o.hasToken() {
				e.fences = append(e.fences, fence{op: g.op, hold: held.op, begins: held.from})
			}
		case release:
			depth--
			switch {
			case depth > 0:
			case begins:
				e.touches = append(e.touches, touch{at(o.call), at(o.ret), g.op, unsaid})
			default:
				end(at(o.call))
			}
		}
	}
	if depth > 0 {
		end(never)
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
		case o.fn != acquire && most == 0:
			e.breaches = append(e.breaches, conflict(NotHeld, released, i))
			continue
		}
		next.op, next.most = i, most
		gaps = append(gaps, next)
		next = gap{op: none}
		if o.fn == acquire {
			most++
		} else if o.fn == release {
			most--
			released = i
		}
	}
	return append(gaps, next)
}
