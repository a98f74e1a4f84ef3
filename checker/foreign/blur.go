package foreign

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// blurs reports whether events whose times are close, or the same, may have happened in either order.
func (o *Options) blurs(several bool) bool {
	return o.ClockError > 0 || several && slices.Contains(blurring, o.Model)
}

// blurring are the models that can be judged so. With a token, the order of two acquires would matter, and could not be known.
var blurring = []Model{Mutex, Owner, Lease}

// blur moves every call to the earliest time at which it can have been, and every return to the latest, if the clocks of two
// processes differ by at most so much: each is at most half of it away from the middle between the slowest and the fastest.
// Of the same time, calls come first.
//
// An operation can then begin before the one before it of the same process has ended. Their effects still come in the order of
// the process.
func (h *recording) blur(clockError time.Duration) {
	allowance := int64(clockError - clockError/2)
	isCall := make([]bool, len(h.times))
	for i := range h.ops {
		isCall[h.ops[i].call] = true
	}
	h.told = h.times
	h.times = make([]int64, len(h.told))
	order := make([]int32, len(h.told))
	for i, t := range h.told {
		order[i] = int32(i)
		if isCall[i] {
			h.times[i] = max(t, math.MinInt64+allowance) - allowance
		} else {
			h.times[i] = min(t, math.MaxInt64-allowance) + allowance
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		if by := cmp.Compare(h.times[a], h.times[b]); by != 0 || isCall[a] == isCall[b] {
			return by
		} else if isCall[a] {
			return -1
		}
		return 1
	})
	place := make([]int32, len(order))
	times, told := make([]int64, len(order)), make([]int64, len(order))
	for to, from := range order {
		place[from], times[to], told[to] = int32(to), h.times[from], h.told[from]
	}
	h.times, h.told = times, told
	for i := range h.ops {
		o := &h.ops[i]
		o.call = place[o.call]
		if o.ret != noEvent {
			o.ret = place[o.ret]
		}
	}
}
