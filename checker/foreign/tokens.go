package foreign

import (
	"cmp"
	"slices"
	"sort"

	"redlocksim/checker"
)

// fence is an operation with a known token: a grant, or a write that was accepted. It happened at begins at the latest, and
// was over at ends at the earliest, so that one which begins before the end of another cannot come after it.
type fence struct {
	op           int32
	begins, ends int
	hold         int32 // what began the hold that the grant belongs to
}

// outOfOrder compares the known tokens of the grants on a lock. Each hold has a higher one than every hold before, and all
// grants in it have the same. A grant whose token is not known is not compared.
func (h *recording) outOfOrder(e *evidence) (breaches []breach) {
	resumed := map[int32]int32{} // by hold, the earlier one that it may be a part of
	whole := func(hold int32) int32 {
		if earlier, is := resumed[hold]; is {
			return earlier
		}
		return hold
	}
	for i, held := range e.holds {
		if i > 0 && held.resumes && h.ops[held.op].process == h.ops[e.holds[i-1].op].process {
			resumed[held.op] = whole(e.holds[i-1].op)
		}
	}
	var fences []fence
	token := func(op int32) int64 { return h.ops[op].token }
	ofHold := map[int32]int32{}
	for _, f := range e.fences {
		first, again := ofHold[f.hold]
		if !again {
			ofHold[f.hold] = f.op
			fences = append(fences, f)
		} else if token(first) != token(f.op) {
			breaches = append(breaches, conflict(TokenChanged, first, f.op))
		}
	}
	slices.SortStableFunc(fences, func(a, b fence) int { return cmp.Compare(a.begins, b.begins) })
	next := never
	for i := range slices.Backward(fences) {
		if f := &fences[i]; f.begins < f.ends { // even if holds overlap, they are in the order of their beginnings
			f.ends = min(f.ends, next)
			next = f.begins
		}
	}
	granted := map[int64]fence{}
	higher := h.higherBefore(fences)
	for i, f := range fences {
		first, repeated := granted[token(f.op)]
		switch {
		case !repeated && higher[i] != none:
			breaches = append(breaches, conflict(checker.TokenRegressed, higher[i], f.op))
		case repeated && whole(f.hold) != whole(first.hold):
			breaches = append(breaches, conflict(checker.TokenRepeated, first.op, f.op))
		}
		if !repeated {
			granted[token(f.op)] = f
		}
	}
	return breaches
}

// higherBefore gives for each of the fences, which are sorted by begins, the one with the highest token that certainly came
// before it; none if that is no higher.
func (h *recording) higherBefore(fences []fence) []int32 {
	highest := make([]int32, len(fences)) // of those up to each
	for i, f := range fences {
		if highest[i] = f.op; i > 0 && h.ops[highest[i-1]].token > h.ops[f.op].token {
			highest[i] = highest[i-1]
		}
	}
	higher := make([]int32, len(fences))
	for i, f := range fences {
		before := sort.Search(len(fences), func(k int) bool { return fences[k].begins >= f.ends })
		if higher[i] = none; before > 0 && h.ops[highest[before-1]].token > h.ops[f.op].token {
			higher[i] = highest[before-1]
		}
	}
	return higher
}

// stale gives the writes that were accepted though one with a higher token had been before they were called.
//
// A resource that compares tokens accepts a write unless it has accepted one with a higher token before. Who holds the
// lock does not matter to it, and so writes are judged by themselves. One of unknown outcome may not have happened, and
// then shows nothing.
func (h *recording) stale(writes []int32) (breaches []breach) {
	var fences []fence
	for _, i := range writes {
		if o := &h.ops[i]; o.outcome == ok {
			fences = append(fences, fence{op: i, begins: at(o.ret), ends: at(o.call)})
		}
	}
	slices.SortFunc(fences, func(a, b fence) int { return cmp.Compare(a.begins, b.begins) })
	for i, higher := range h.higherBefore(fences) {
		if higher != none {
			breaches = append(breaches, conflict(checker.StaleWrite, higher, fences[i].op))
		}
	}
	return breaches
}
