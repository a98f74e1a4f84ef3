package foreign

import (
	"cmp"
	"slices"

	"redlocksim/checker"
	"redlocksim/checker/internal/exclusion"
)

// evidence finds the holds of all processes. Operations of a process stay in the order of their calls.
func (h *recording) evidence(ops []int32, o Options) *evidence {
	e := &evidence{again: none, unclear: none}
	byProcess := slices.Clone(ops)
	slices.SortStableFunc(byProcess, func(a, b int32) int { return cmp.Compare(h.ops[a].process, h.ops[b].process) })
	for len(byProcess) > 0 {
		n := 1
		for n < len(byProcess) && h.ops[byProcess[n]].process == h.ops[byProcess[0]].process {
			n++
		}
		e.vague = false
		switch {
		case o.Model.reentrant():
			h.reentrant(e, byProcess[:n])
		case o.leased():
			h.lease(e, byProcess[:n])
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
	return &breach{checker.LeaseOverlap, held.op, second, held.basis, held.proof, nil}, count
}
