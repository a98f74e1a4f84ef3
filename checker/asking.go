package checker

import (
	"sort"

	"redlocksim/sim/history"
)

// asking is a stretch in which a process asks for a resource, between two Seqs: a wait.
type asking struct {
	span
	process string
	// attempts is how many the history shows, and granted says that the last of its acquires succeeded.
	attempts int
	granted  bool
	// until is up to when it was to wait, if it gave up earlier; 0 if it did not.
	until Instant
}

// over is when it is over, or would be if it had not given up early.
func (a *asking) over(t *transcript) moment {
	if a.until == 0 {
		return moment{a.to, t.at(a.to)}
	}
	if a.until >= t.end {
		return moment{forever, t.end}
	}
	later := sort.Search(t.Len()-a.to, func(i int) bool { return t.at(a.to+1+i) > a.until })
	return moment{a.to + later, a.until}
}

// wantsUntil says up to when a refused acquire was to wait; 0 if it did. The history says so where somebody's lock gives up
// early.
func wantsUntil(t *transcript, o *operation) Instant {
	if o.ret == forever || o.granted() {
		return 0
	}
	e := t.Event(o.ret)
	if e.Span <= 0 {
		return 0
	}
	return Instant(e.Time) + Instant(e.Span)
}

// askings finds who asked for each resource, and when, sorted by beginning: from the call of an acquire to its return or the
// crash of the process, and on through the next call if the acquire did not succeed and that comes at the same time. What a
// call wanted that gave up early ends with the next call or the crash.
func askings(t *transcript) map[string][]asking {
	type caller struct{ process, resource string }
	type failure struct {
		asking int // its place in the resource's
		ret    int
	}
	found := map[string][]asking{}
	failed := map[caller]failure{}
	crashes := map[string]int{}
	type place struct {
		caller
		asking int
	}
	var early []place // of those that gave up early
	attempts := attemptsOf(t)
	for i := range t.kept {
		e := &t.kept[i]
		if e.Kind == history.Crash {
			crashes[e.Process] = e.Seq
			for _, x := range early {
				if a := &found[x.resource][x.asking]; x.process == e.Process {
					a.until = min(a.until, Instant(e.Time))
				}
			}
		}
		if e.Kind != history.Call || e.Func != history.Acquire {
			continue
		}
		op := &t.ops[e.Op]
		by := caller{op.process, op.resource}
		a := asking{span{op.call, min(op.ret, op.crash)}, op.process, attempts[e.Op], op.granted(), wantsUntil(t, op)}
		at := len(found[op.resource])
		last, again := failed[by]
		if again {
			before := &found[op.resource][last.asking]
			before.until = min(before.until, Instant(e.Time))
		}
		if again && last.ret < op.call && crashes[op.process] < last.ret && t.at(op.call) == t.at(last.ret) {
			at = last.asking
			whole := &found[op.resource][at]
			whole.to, whole.granted, whole.until = a.to, a.granted, a.until
			whole.attempts += a.attempts
		} else {
			found[op.resource] = append(found[op.resource], a)
		}
		delete(failed, by)
		if op.ret != forever && !op.granted() {
			failed[by] = failure{at, op.ret}
		}
		if a.until > 0 {
			early = append(early, place{by, at})
		}
	}
	return found
}

// attemptsOf counts the attempts of each acquire, by its Op: the highest attempt number of its steps, or 1.
func attemptsOf(t *transcript) []int {
	attempts := make([]int, len(t.ops))
	for _, op := range t.acquires {
		attempts[op] = 1
	}
	for i := range t.kept {
		e := &t.kept[i]
		if o := t.op(e.Op); e.Kind == history.Step && o != nil && o.fn == history.Acquire && e.Seq < min(o.ret, o.crash) {
			attempts[e.Op] = max(attempts[e.Op], int(min(e.Number, int64(forever))))
		}
	}
	// The steps of a call on several resources belong to the first of its operations.
	for i := range t.kept {
		if e := &t.kept[i]; e.With != 0 && e.Kind == history.Call && e.Func == history.Acquire && t.op(e.With) != nil {
			attempts[e.Op] = attempts[e.With]
		}
	}
	return attempts
}
