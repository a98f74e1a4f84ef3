package checker

import (
	"sort"
	"time"

	"redlocksim/sim/history"
)

// Wait is a stretch of true time in which a process asks for a resource: from the call of an acquire to its return, the
// crash of the process or the end of the run, and over a retry at the very time of the return. The zero Wait is none.
type Wait struct {
	Process string
	// FromSeq and ToSeq are the events that begin and end it, at From and To. ToSeq is 0, and To the end of the run, if
	// it never ended.
	FromSeq, ToSeq int
	From, To       Instant
	// Granted: it ended with a grant, and not with the process giving up or crashing, or the run ending.
	Granted bool
}

// For is how long it lasted.
func (w Wait) For() time.Duration { return w.To.Since(w.From) }

// Count is the largest number of something in one wait, and the first wait with that number; no wait if it is 0.
type Count struct {
	Number int
	Wait   Wait
}

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
	later := sort.Search(len(t.history)-a.to, func(i int) bool { return t.at(a.to+1+i) > a.until })
	return moment{a.to + later, a.until}
}

// wantsUntil says up to when a refused acquire was to wait; 0 if it did. The history says so where somebody's lock gives up
// early.
func wantsUntil(t *transcript, o *operation) Instant {
	if o.ret == forever || o.granted() {
		return 0
	}
	e := t.history[o.ret-1]
	if e.Span <= 0 {
		return 0
	}
	return Instant(e.Time) + Instant(e.Span)
}

func (t *transcript) wait(a asking) Wait {
	w := t.window(a.process, 0, a.from, a.to)
	return Wait{Process: a.process, FromSeq: w.FromSeq, ToSeq: w.ToSeq, From: w.From, To: w.To, Granted: a.granted}
}

// raise sets the count to n if that is larger.
func (c *Count) raise(t *transcript, n int, a asking) {
	if n > c.Number {
		*c = Count{Number: n, Wait: t.wait(a)}
	}
}

// askings finds who asked for each resource, and when, sorted by beginning: from the call of an acquire to its return or the
// crash of the process, and on through the next call if the acquire did not succeed and that comes at the same time. What a
// call wanted that gave up early ends with the next call or the crash.
func askings(t *transcript) map[string][]asking {
	type caller struct{ process, resource string }
	found := map[string][]asking{}
	failed := map[caller]int{} // the place of the asking whose last call failed
	for i := range t.history {
		e := &t.history[i]
		if e.Kind == history.Crash {
			for by, at := range failed {
				if a := &found[by.resource][at]; by.process == e.Process {
					a.until = min(a.until, Instant(e.Time))
					delete(failed, by)
				}
			}
		}
		if e.Kind != history.Call || e.Func != history.Acquire {
			continue
		}
		op, by := &t.ops[e.Op], caller{e.Process, e.Resource}
		a := asking{span{op.call, min(op.ret, op.crash)}, op.process, t.attempts(e), op.granted(), wantsUntil(t, op)}
		waits := found[op.resource]
		at, again := failed[by]
		if again {
			waits[at].until = min(waits[at].until, Instant(e.Time))
		}
		if again && waits[at].to < op.call && t.at(waits[at].to) == t.at(op.call) {
			a.from, a.attempts = waits[at].from, waits[at].attempts+a.attempts
			waits[at] = a
		} else {
			at = len(waits)
			found[op.resource] = append(waits, a)
		}
		delete(failed, by)
		if op.ret != forever && !op.granted() {
			failed[by] = at
		}
	}
	return found
}

// attempts is how many an acquire made: the highest attempt number of its steps, or 1. The steps of a call on several resources
// belong to the first of its operations.
func (t *transcript) attempts(call *history.Event) int {
	if first := t.op(call.With); first != nil {
		return max(1, first.attempts)
	}
	return max(1, t.ops[call.Op].attempts)
}

// healing is the name of the fault by which a history says that all faults have been undone.
const healing = "heal"

// healed is the Seq at which the faults were undone last, 0 if they never were.
func (t *transcript) healed() int {
	for i := len(t.history) - 1; i >= 0; i-- {
		if e := &t.history[i]; e.Kind == history.Fault && e.Name == healing {
			return e.Seq
		}
	}
	return 0
}

// slowestRecovery finds the process that was granted last for the first time after the faults were undone: its wait from
// that moment, or from the first one after it at which it asks, to its first grant after it; if it is not granted, until
// it stops asking for good. The first of equals; none if nobody asks after the moment, or it never came.
//
// It is the liveness phase of a test with faults: a lock that is free and whose nodes can be reached must be had again,
// by everybody who keeps asking.
func slowestRecovery(t *transcript, asked []asking, healed int) Wait {
	if healed == 0 {
		return Wait{}
	}
	var recoveries []asking
	place := map[string]int{}
	for _, a := range asked {
		if a.to < healed {
			continue
		}
		i, known := place[a.process]
		switch {
		case !known:
			place[a.process] = len(recoveries)
			a.from = max(a.from, healed)
			recoveries = append(recoveries, a)
		case !recoveries[i].granted:
			recoveries[i].to, recoveries[i].granted = a.to, a.granted
		}
	}
	var slowest Wait
	for _, a := range recoveries {
		if w := t.wait(a); slowest.Process == "" || w.For() > slowest.For() {
			slowest = w
		}
	}
	return slowest
}
