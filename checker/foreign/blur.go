package foreign

import (
	"cmp"
	"math"
	"slices"
)

// blurs reports whether events whose times are close, or the same, may have happened in either order.
func (o *Options) blurs(several bool) bool {
	return o.ClockError > 0 || several && o.Model.isPlain()
}

// blur moves every call to the earliest time at which it can have been, and every return to the latest, if the clocks of two
// processes differ by at most so much: each is at most half of it away from the middle between the slowest and the fastest.
// Of the same time, calls come first.
//
// An operation can then begin before the one before it of the same process has ended. Their effects still come in the order of
// the process.
func (h *recording) blur() {
	h.allowance = int64(h.o.ClockError - h.o.ClockError/2)
	order := make([]int32, len(h.lines))
	for i := range h.lines {
		l := &h.lines[i]
		if order[i] = int32(i); l.typ == called {
			l.time = max(l.time, math.MinInt64+h.allowance) - h.allowance
		} else {
			l.time = min(l.time, math.MaxInt64-h.allowance) + h.allowance
		}
	}
	isReturn := func(i int32) int {
		if h.lines[i].typ == called {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(h.lines[a].time, h.lines[b].time), isReturn(a)-isReturn(b))
	})
	place, sorted := make([]int32, len(order)), make([]line, len(order))
	for to, from := range order {
		place[from], sorted[to] = int32(to), h.lines[from]
	}
	h.lines = sorted
	for i := range h.ops {
		o := &h.ops[i]
		if o.call = place[o.call]; o.ret != noEvent {
			o.ret = place[o.ret]
		}
	}
}
