package foreign

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// judge gives the report.
func (h *recording) judge() (*Report, error) {
	o := &h.o
	r := &Report{Findings: []Finding{}, Notes: append([]string{}, h.notes...), Counts: &Counts{
		Format: h.format, Model: o.Model, Lease: o.Lease, ClockError: o.ClockError, Lines: h.read,
		Operations: len(h.ops) - h.dropped, Locks: len(h.locks.in), Nemesis: h.nemesis, LeftOut: h.leftOut, Moved: h.moved,
	}}
	acts := make([]bool, len(h.processes.in))
	for i := range h.ops {
		op := &h.ops[i]
		if !acts[op.process] {
			acts[op.process] = true
			r.Processes++
		}
		if op.outcome == unknown {
			r.Unknown++
		}
		if op.outcome == ok && op.fn == acquire {
			r.Grants++
		}
		if length := time.Duration(op.lease); length > 0 && op.outcome != failed {
			r.Longest = max(r.Longest, length)
			r.Shortest = min(cmp.Or(r.Shortest, length), length)
		}
	}
	writes := h.byLock(true)
	for lock, ops := range h.byLock(false) {
		breaches, err := h.holders(r, lock, ops)
		if err != nil {
			return nil, err
		}
		h.addBreaches(r, append(breaches, h.stale(writes[lock])...))
	}
	if h.namesDiffer && !r.Good() {
		r.Notes = append(r.Notes, "the history was judged as one lock, but its acquires have values that differ; "+
			"if they name locks, tell these apart with --group-by key")
	}
	if r.late > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d of %d grants were over when their acquire returned, as a lease counts "+
			"from the call, so that nobody is accused of what came after; log each attempt as an acquire of its own",
			r.late, r.Grants))
	}
	if r.Grants == 0 && r.Good() {
		r.Notes = append(r.Notes, "no acquire succeeded, so that nothing could go wrong")
	} else if r.Grants > 0 && r.Processes < 2 {
		r.Notes = append(r.Notes, "there is only one process, so that nobody contended")
	}
	return r, nil
}

// byLock gives the operations on each lock, or the writes to what it protects, in the order of their calls.
func (h *recording) byLock(writes bool) [][]int32 {
	groups := make([][]int32, len(h.locks.in))
	for i := range h.ops {
		if op := &h.ops[i]; op.lock != unnamed && (op.fn == write) == writes {
			groups[op.lock] = append(groups[op.lock], int32(i))
		}
	}
	return groups
}

// holders judges who held a lock, and their tokens.
func (h *recording) holders(r *Report, lock int, ops []int32) ([]breach, error) {
	o := &h.o
	share := h.sharing[lock]
	if o.Model == Mutex {
		return h.sweep(ops, max(1, share.permits)), nil
	}
	e := h.evidence(ops)
	if !share.none() && e.again != none {
		op := &h.ops[e.again]
		return nil, h.notJudged(op, "process %s may hold %s twice at a time; give each hold a process of its own",
			h.processes.in[op.process], h.lockOf(op))
	}
	for _, t := range e.touches {
		if o.leased() && h.ops[t.op].fn == acquire {
			r.late++
		}
	}
	breaches := e.breaches
	if first := h.crowds(e, share); first != nil {
		// What the processes did all by themselves is of the same kind, and counted with it.
		breaches = slices.Insert(breaches, 0, *first)
	}
	if o.Model == Fenced || o.Model == ReentrantFenced && len(breaches) == 0 {
		breaches = append(breaches, h.outOfOrder(e)...)
	}
	return breaches, nil
}

// evidence finds the holds of all processes. Operations of a process stay in the order of their calls.
func (h *recording) evidence(ops []int32) *evidence {
	e := &evidence{again: none}
	byProcess := slices.Clone(ops)
	slices.SortStableFunc(byProcess, func(a, b int32) int { return cmp.Compare(h.ops[a].process, h.ops[b].process) })
	for len(byProcess) > 0 {
		n := 1
		for n < len(byProcess) && h.ops[byProcess[n]].process == h.ops[byProcess[0]].process {
			n++
		}
		if h.o.Model.reentrant() {
			h.reentrant(e, byProcess[:n])
		} else {
			h.ownership(e, byProcess[:n])
		}
		byProcess = byProcess[n:]
	}
	slices.SortFunc(e.holds, func(a, b hold) int { return cmp.Compare(a.from, b.from) })
	slices.SortFunc(e.touches, func(a, b touch) int { return cmp.Compare(a.to, b.to) })
	slices.SortStableFunc(e.breaches, func(a, b breach) int { return cmp.Compare(h.ops[a.second].ret, h.ops[b.second].ret) })
	return e
}
