package foreign

import (
	"cmp"
	"container/heap"
	"slices"

	"redlocksim/checker"
)

// sweep judges a lock without owners, of which so many permits can be held: some order of the operations, each at an
// instant between its call and return, must take and leave the lock in turn.
//
// Going along the events, an operation is put off until it returns, and then happens just before. If the lock is in the
// wrong state for it, one of the opposite kind must happen first, and of those under way it is the one that returns
// first: any other could take its place later, not the reverse. Operations that never return are the last choice. None
// of them left is a breach.
func (h *recording) sweep(ops []int32, permits int) []breach {
	var breaches []breach
	waiting := [...]*pool{acquire: {h: h}, release: {h: h}}
	happened := map[int32]bool{} // of those that have not returned
	holder, leaver := int32(none), int32(none)
	held, lastHeld := 0, int32(-1)
	do := func(op int32, at int32) {
		lastHeld = at
		if h.ops[op].fn == acquire {
			holder, held = op, min(held+1, permits)
		} else {
			leaver, held = op, max(held-1, 0)
		}
	}
	// instead makes one of this kind happen.
	instead := func(fn function, at int32) bool {
		for waiting[fn].Len() > 0 {
			op := heap.Pop(waiting[fn]).(int32)
			if h.ops[op].ret < at {
				continue
			}
			if h.ops[op].outcome == ok {
				happened[op] = true
			}
			do(op, at)
			return true
		}
		return false
	}
	for _, e := range h.events(ops) {
		o := &h.ops[e.op]
		switch {
		case !e.ret && o.fn != extend:
			heap.Push(waiting[o.fn], e.op)
		case !e.ret:
		case happened[e.op]:
			delete(happened, e.op)
		case o.fn == acquire:
			if held == permits && !instead(release, e.at) {
				breaches = append(breaches, conflict(checker.LeaseOverlap, holder, e.op))
			}
			do(e.op, e.at)
		case held == 0 && (o.fn == release || lastHeld < o.call) && !instead(acquire, e.at):
			breaches = append(breaches, conflict(NotHeld, leaver, e.op))
		case o.fn == release:
			do(e.op, e.at)
		}
	}
	return breaches
}

// pool is a heap of operations, the one that returns first on top.
type pool struct {
	h  *recording
	in []int32
}

func (p *pool) Len() int { return len(p.in) }

func (p *pool) Less(i, j int) bool {
	a, b := &p.h.ops[p.in[i]], &p.h.ops[p.in[j]]
	return cmp.Or(cmp.Compare(a.ret, b.ret), cmp.Compare(a.call, b.call)) < 0
}

func (p *pool) Swap(i, j int) { p.in[i], p.in[j] = p.in[j], p.in[i] }

// Push appends.
func (p *pool) Push(x any) { p.in = append(p.in, x.(int32)) }

// Pop removes the last.
func (p *pool) Pop() any {
	last := p.in[len(p.in)-1]
	p.in = p.in[:len(p.in)-1]
	return last
}

// event is the call of an operation that may have happened, or the return of one that did.
type event struct {
	at, op int32
	ret    bool
}

// events are those of some operations, in their order. Operations that failed have none, nor have extends of unknown outcome,
// which change nothing that another could see.
func (h *recording) events(ops []int32) []event {
	events := make([]event, 0, 2*len(ops))
	for _, i := range ops {
		o := &h.ops[i]
		if o.outcome == failed || o.outcome == unknown && o.fn == extend {
			continue
		}
		events = append(events, event{o.call, i, false})
		if o.outcome == ok {
			events = append(events, event{o.ret, i, true})
		}
	}
	slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return events
}
