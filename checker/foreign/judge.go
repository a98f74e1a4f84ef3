package foreign

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// opinions are the two ways in which the operations on a lock are judged. Both begin with the operations as they were
// recorded. They must share nothing else: a mistake in what both use is one that neither notices.
type opinions struct {
	first  func(h *recording, ops []int32, o Options) judgement
	second func(h *recording, ops []int32, o Options) (legal bool, undecided string)
}

var bothOpinions = opinions{(*recording).intervals, (*recording).linearizable}

// judge gives the report.
func (h *recording) judge(o Options, by opinions) (*Report, error) {
	r := &Report{
		Format: h.format, Model: o.Model, Lease: o.Lease, ClockError: o.ClockError, Lines: h.lines,
		Operations: len(h.ops) - h.dropped, Locks: len(h.locks.in), Processes: h.actors(), Nemesis: h.nemesis,
		LeftOut: h.leftOut, Moved: h.moved, Notes: h.notes,
	}
	for i := range h.ops {
		op := &h.ops[i]
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
	given := 0
	var undecided error
	for _, ops := range h.byLock() {
		first := by.first(h, ops, o)
		if first.err != nil {
			return nil, first.err
		}
		err := h.confirm(r, ops, o, by.second, &first, &given)
		switch {
		case errors.Is(err, ErrUndecided):
			undecided = cmp.Or(undecided, err)
		case err != nil:
			return nil, err
		}
		h.addBreaches(r, ops, first)
	}
	if err := r.open(undecided); err != nil {
		return nil, err
	}
	if h.namesDiffer && !r.Good() {
		r.Notes = append(r.Notes, "the history was judged as one lock, but its acquires have values that differ; "+
			"if they name locks, tell these apart with --group-by key")
	}
	if h.late > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d of %d grants were over when their acquire returned, as a lease counts "+
			"from the call, so that nobody is accused of what came after; log each attempt as an acquire of its own",
			h.late, r.Grants))
	}
	if r.Grants == 0 && r.Good() {
		r.Notes = append(r.Notes, "no acquire succeeded, so that nothing could go wrong")
	} else if r.Grants > 0 && r.Processes < 2 {
		r.Notes = append(r.Notes, "there is only one process, so that nobody contended")
	}
	return r, nil
}

// open takes the error of what could not be decided. Of a history that is bad whatever the answer, it is a note.
func (r *Report) open(undecided error) error {
	if undecided == nil || r.Good() {
		return undecided
	}
	r.Notes = append(r.Notes, undecided.Error())
	return nil
}

// actors counts the processes that called an operation which is judged.
func (h *recording) actors() int {
	acts, count := make([]bool, len(h.processes.in)), 0
	for i := range h.ops {
		if p := h.ops[i].process; !acts[p] {
			acts[p] = true
			count++
		}
	}
	return count
}

// byLock gives the operations on each lock, in the order of their calls.
func (h *recording) byLock() [][]int32 {
	sizes := make([]int, len(h.locks.in))
	for i := range h.ops {
		if lock := h.ops[i].lock; lock != unnamed {
			sizes[lock]++
		}
	}
	all := make([]int32, len(h.ops))
	groups := make([][]int32, len(sizes))
	for lock, size := range sizes {
		groups[lock], all = all[:0:size], all[size:]
	}
	for i := range h.ops {
		if lock := h.ops[i].lock; lock != unnamed {
			groups[lock] = append(groups[lock], int32(i))
		}
	}
	return groups
}

// intervals judges the operations on one lock by the holds that they show.
func (h *recording) intervals(ops []int32, o Options) judgement {
	ops, writes := h.split(ops)
	all := h.holders(ops, o)
	all.breaches = append(all.breaches, h.stale(writes)...)
	return all
}

// holders judges who held a lock.
func (h *recording) holders(ops []int32, o Options) judgement {
	if len(ops) == 0 {
		return judgement{}
	}
	share := h.sharing[h.ops[ops[0]].lock]
	if o.Model == Mutex {
		return judgement{breaches: h.sweep(ops, max(1, share.permits))}
	}
	e := h.evidence(ops, o)
	for i := range e.touches {
		if o.leased() && h.ops[e.touches[i].op].fn == acquire {
			h.late++
		}
	}
	all := judgement{breaches: e.breaches}
	if !share.none() {
		all.err = h.unclear(e)
	}
	if first, count := h.crowds(e, share); first != nil {
		// What the processes did all by themselves is of the same kind, and counted with it.
		all.breaches, all.more = slices.Insert(e.breaches, 0, *first), count-1
	}
	if o.Model == Fenced {
		all.breaches = append(all.breaches, h.outOfOrder(ops, o.leased())...)
	}
	if o.Model.fenced() && len(all.breaches) == 0 {
		all.breaches, all.undecided = h.tokens(ops, &o)
	}
	return all
}

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
