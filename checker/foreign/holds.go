package foreign

import (
	"cmp"
	"slices"
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
		if o.Model.reentrant() {
			h.reentrant(e, byProcess[:n])
		} else {
			h.ownership(e, byProcess[:n], o.leased())
		}
		byProcess = byProcess[n:]
	}
	slices.SortFunc(e.holds, func(a, b hold) int { return cmp.Compare(a.from, b.from) })
	slices.SortFunc(e.touches, func(a, b touch) int { return cmp.Compare(a.to, b.to) })
	slices.SortStableFunc(e.breaches, func(a, b breach) int { return cmp.Compare(h.ops[a.second].ret, h.ops[b.second].ret) })
	return e
}
