package foreign

import (
	"cmp"
	"slices"

	"github.com/anishathalye/porcupine"

	"redlocksim/checker"
)

// tokens judges the tokens on a lock whose holds are in order, and whose tokens rise where it is not re-entrant. If it
// comes to no answer, it says why.
func (h *recording) tokens(ops []int32, o *Options) ([]breach, string) {
	if o.Model == Fenced && !o.leased() && h.roomy(ops) {
		return nil, ""
	}
	w := newWorlds(h, o)
	failed, why := w.follow(ops)
	if failed == none || why != "" {
		return nil, why
	}
	if other := w.lower(failed); o.leased() && other != none {
		return []breach{conflict(checker.TokenRegressed, failed, other)}, ""
	}
	return []breach{h.tokenBreach(ops, failed, w.nested)}, ""
}

// lower is an acquire that is still under way when a grant fails and has a lower token, which by their leases comes
// after it.
func (w *worlds) lower(failed int32) int32 {
	for _, open := range w.waiting {
		if f := &w.h.ops[failed]; open != failed && f.hasToken() && w.h.ops[open].token < f.token {
			return open
		}
	}
	return none
}

// outOfOrder compares the known tokens. Holds that last until they are released were granted in the order of their returns;
// where they end by themselves, which of two grants came first is known only if one was called after the other had returned.
func (h *recording) outOfOrder(ops []int32, leased bool) (breaches []breach) {
	grants := h.granted(ops)
	before := h.highestBefore(grants, func(o *operation) int32 {
		if leased {
			return o.call
		}
		return o.ret
	})
	first := map[int64]int32{}
	for _, i := range grants {
		token := h.ops[i].token
		if earlier, repeated := first[token]; repeated {
			breaches = append(breaches, conflict(checker.TokenRepeated, earlier, i))
			continue
		}
		first[token] = i
		if higher := before[i]; higher != none && h.ops[higher].token > token {
			breaches = append(breaches, conflict(checker.TokenRegressed, higher, i))
		}
	}
	return breaches
}

// highestBefore gives, by operation, that with the highest token of those that had returned before it began, in the sense
// that is given; none if none had.
func (h *recording) highestBefore(ops []int32, began func(*operation) int32) map[int32]int32 {
	returns, begins := h.inOrder(ops, func(o *operation) int32 { return o.ret }), h.inOrder(ops, began)
	before := make(map[int32]int32, len(ops))
	highest, n := int32(none), 0
	for _, i := range begins {
		for ; h.ops[returns[n]].ret < began(&h.ops[i]); n++ {
			if highest == none || h.ops[returns[n]].token > h.ops[highest].token {
				highest = returns[n]
			}
		}
		before[i] = highest
	}
	return before
}

// inOrder sorts operations by an event of each.
func (h *recording) inOrder(ops []int32, by func(*operation) int32) []int32 {
	return slices.SortedFunc(slices.Values(ops), func(a, b int32) int { return cmp.Compare(by(&h.ops[a]), by(&h.ops[b])) })
}

// granted gives the grants with known tokens in the order in which they were given. Where holds are in order, that is
// the order of their returns.
func (h *recording) granted(ops []int32) []int32 {
	var grants []int32
	for _, i := range ops {
		if h.ops[i].hasToken() {
			grants = append(grants, i)
		}
	}
	return h.inOrder(grants, func(o *operation) int32 { return o.ret })
}

// roomy reports whether there are numbers enough between any two known tokens for all grants whose tokens are not known,
// wherever they lie.
func (h *recording) roomy(ops []int32) bool {
	unknowns := uint64(0)
	for _, i := range ops {
		o := &h.ops[i]
		if o.fn == acquire && o.outcome != failed && !o.hasToken() {
			unknowns++
		}
	}
	if unknowns == 0 {
		return true
	}
	grants := h.granted(ops)
	for n := 1; n < len(grants); n++ {
		// Rising, so that the difference is right even where it has no int64.
		if uint64(h.ops[grants[n]].token)-uint64(h.ops[grants[n-1]].token) <= unknowns {
			return false
		}
	}
	return true
}

// tokenBreach says what is wrong with the first operation that no order allows. nested says that its process certainly
// held the lock.
func (h *recording) tokenBreach(ops []int32, failed int32, nested bool) breach {
	o := &h.ops[failed]
	highest, same := int32(none), int32(none)
	for _, i := range h.granted(ops) {
		if h.ops[i].ret >= o.ret {
			break
		}
		if highest == none || h.ops[i].token > h.ops[highest].token {
			highest = i
		}
		if o.hasToken() && same == none && h.ops[i].token == o.token {
			same = i
		}
	}
	kind, first := TokenGap, highest
	switch {
	case !o.hasToken() || highest == none:
	case nested && h.ops[highest].process == o.process:
		kind = TokenChanged
	case same != none:
		kind, first = checker.TokenRepeated, same
	case h.ops[highest].token > o.token:
		kind = checker.TokenRegressed
	}
	return conflict(kind, first, failed)
}

// A resource that compares tokens accepts a write unless it has accepted one with a higher token before. Who holds the
// lock does not matter to it, and so writes are judged by themselves. One of unknown outcome may not have happened, and
// then shows nothing.

// split parts the operations on the lock from the writes that it protects.
func (h *recording) split(ops []int32) (onLock, writes []int32) {
	if !h.writes {
		return ops, nil
	}
	for _, i := range ops {
		if h.ops[i].fn == write {
			writes = append(writes, i)
		} else {
			onLock = append(onLock, i)
		}
	}
	return onLock, writes
}

// stale gives the writes that were accepted though one with a higher token had been before they were called.
func (h *recording) stale(writes []int32) (breaches []breach) {
	called := func(o *operation) int32 { return o.call }
	accepted := slices.DeleteFunc(slices.Clone(writes), func(i int32) bool { return h.ops[i].outcome != ok })
	before := h.highestBefore(accepted, called)
	for _, i := range h.inOrder(accepted, called) {
		if highest := before[i]; highest != none && h.ops[highest].token > h.ops[i].token {
			breaches = append(breaches, conflict(checker.StaleWrite, highest, i))
		}
	}
	return breaches
}

// accepted asks porcupine whether a resource that compares tokens can have accepted the writes.
func (h *recording) accepted(writes []int32, most int) (legal bool, undecided string) {
	var all []porcupine.Operation
	for _, i := range writes {
		if o := &h.ops[i]; o.outcome == ok {
			all = append(all, porcupine.Operation{Input: o.token, Call: int64(at(o.call)), Return: int64(at(o.ret))})
		}
	}
	type resource struct {
		highest int64
		written bool
	}
	model := porcupine.Model{
		Init: func() any { return resource{} },
		Step: func(st, in, _ any) (bool, any) {
			s, token := st.(resource), in.(int64)
			return !s.written || token >= s.highest, resource{token, true}
		},
	}
	return checker.Linearizable(model, all, most)
}
