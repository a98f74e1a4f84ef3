package foreign

import (
	"cmp"
	"slices"

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

// outOfOrder compares the known tokens where holds end by themselves, so that which of two grants came first is known
// only if one was called after the other had returned.
func (h *recording) outOfOrder(ops []int32) []breach {
	grants := h.granted(ops)
	calls := slices.Clone(grants)
	slices.SortFunc(calls, func(a, b int32) int { return cmp.Compare(h.ops[a].call, h.ops[b].call) })
	// By grant, the one of the highest token that had returned when it was called.
	before := make(map[int32]int32, len(calls))
	highest, n := int32(none), 0
	for _, i := range calls {
		for ; h.ops[grants[n]].ret < h.ops[i].call; n++ {
			if highest == none || h.ops[grants[n]].token > h.ops[highest].token {
				highest = grants[n]
			}
		}
		before[i] = highest
	}
	var breaches []breach
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

// granted gives the grants with known tokens in the order in which they were given. Where holds are in order, that is
// the order of their returns.
func (h *recording) granted(ops []int32) []int32 {
	var grants []int32
	for _, i := range ops {
		if h.ops[i].hasToken() {
			grants = append(grants, i)
		}
	}
	slices.SortFunc(grants, func(a, b int32) int { return cmp.Compare(h.ops[a].ret, h.ops[b].ret) })
	return grants
}

// rising compares the known tokens: each is higher than all before.
func (h *recording) rising(ops []int32) []breach {
	grants := h.granted(ops)
	var breaches []breach
	var first map[int64]int32
	highest := int32(none)
	for n, i := range grants {
		if highest == none || h.ops[i].token > h.ops[highest].token {
			highest = i
			if first != nil {
				first[h.ops[i].token] = i
			}
			continue
		}
		if first == nil {
			first = make(map[int64]int32, n)
			for _, j := range grants[:n] {
				first[h.ops[j].token] = j
			}
		}
		earlier, repeated := first[h.ops[i].token]
		switch {
		case repeated:
			breaches = append(breaches, conflict(checker.TokenRepeated, earlier, i))
		default:
			breaches = append(breaches, conflict(checker.TokenRegressed, highest, i))
			first[h.ops[i].token] = i
		}
	}
	return breaches
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
