package checker

import "redlocksim/history"

// asking is a stretch in which a process asks for a resource, between two Seqs: a wait.
type asking struct {
	span
	process string
	// attempts is how many the history shows, and granted says that the last of its acquires succeeded.
	attempts int
	granted  bool
}

// askings finds who asked for each resource, and when, sorted by beginning: from the call of an acquire to its return or the
// crash of the process, and on to the next call if the acquire did not succeed and the gap is at most o.RetryGap.
func askings(t *transcript, o Options) map[string][]asking {
	type caller struct{ process, resource string }
	type failure struct {
		asking int // its place in the resource's
		ret    int
	}
	found := map[string][]asking{}
	failed := map[caller]failure{}
	crashes := map[string]int{}
	attempts := attemptsOf(t)
	for i := range t.events {
		e := &t.events[i]
		if e.Kind == history.Crash {
			crashes[e.Process] = e.Seq
		}
		if e.Kind != history.Call || e.Func != history.Acquire {
			continue
		}
		op := &t.ops[e.Op]
		by := caller{op.process, op.resource}
		a := asking{span{op.call, min(op.ret, op.crash)}, op.process, attempts[e.Op], op.granted()}
		place := len(found[op.resource])
		last, again := failed[by]
		if again && last.ret < op.call && crashes[op.process] < last.ret && t.at(op.call).Since(t.at(last.ret)) <= o.RetryGap {
			place = last.asking
			whole := &found[op.resource][place]
			whole.to, whole.granted = a.to, a.granted
			whole.attempts += a.attempts
		} else {
			found[op.resource] = append(found[op.resource], a)
		}
		delete(failed, by)
		if op.ret != forever && !op.granted() {
			failed[by] = failure{place, op.ret}
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
	for i := range t.events {
		e := &t.events[i]
		if o := t.op(e.Op); e.Kind == history.Step && o != nil && o.fn == history.Acquire && e.Seq < min(o.ret, o.crash) {
			attempts[e.Op] = max(attempts[e.Op], int(min(e.Number, int64(forever))))
		}
	}
	// The steps of a call on several resources belong to the first of its operations.
	for i := range t.events {
		if e := &t.events[i]; e.With != 0 && e.Kind == history.Call && e.Func == history.Acquire && t.op(e.With) != nil {
			attempts[e.Op] = attempts[e.With]
		}
	}
	return attempts
}
