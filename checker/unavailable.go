package checker

import (
	"cmp"
	"slices"

	"redlocksim/history"
)

// stoppingFaults keep a client from ending its critical section for as long as they last.
var stoppingFaults = []string{"pause", "cut-off"}

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

// use is a critical section: a stretch in which the holder of a grant could use the resource.
type use struct {
	span
	grant int
	// again: its process was in a critical section on the resource already, and has entered it once more.
	again bool
	// stopped: what ended it is the crash of its process, or a fault that keeps the process from releasing.
	stopped bool
}

// criticalSections finds when the resources were in use, sorted by beginning: from each grant to the call of its release, its
// expiry, the crash of its process, or a fault that keeps its process from releasing, whichever comes first.
func criticalSections(t *transcript, o Options) map[string][]use {
	stopping := o.Stopping
	if stopping == nil {
		stopping = stoppingFaults
	}
	type place struct {
		resource string
		index    int
	}
	type user struct{ process, resource string }
	found := map[string][]use{}
	on := map[int]place{}
	held := map[string][]int{}
	entered := map[user]int{}
	expired := make([]bool, len(t.ops))
	end := func(grant, seq int, stopped bool) {
		if p, ok := on[grant]; ok {
			u := &found[p.resource][p.index]
			u.to, u.stopped = seq, stopped
			entered[user{t.ops[grant].process, p.resource}]--
			delete(on, grant)
		}
	}
	for i := range t.events {
		e := &t.events[i]
		switch e.Kind {
		case history.Return:
			op := &t.ops[e.Op]
			if !op.granted() || expired[e.Op] {
				continue
			}
			by := user{op.process, op.resource}
			on[e.Op] = place{op.resource, len(found[op.resource])}
			found[op.resource] = append(found[op.resource], use{span: span{e.Seq, forever}, grant: e.Op, again: entered[by] > 0})
			entered[by]++
			held[op.process] = append(held[op.process], e.Op)
		case history.Call:
			if e.Func == history.Release {
				end(e.Grant, e.Seq, false)
			}
		case history.Expire:
			expired[e.Grant] = true
			end(e.Grant, e.Seq, false)
		case history.Crash, history.Fault:
			if e.Kind == history.Fault && !slices.Contains(stopping, e.Name) {
				continue
			}
			for _, grant := range held[e.Process] {
				end(grant, e.Seq, true)
			}
			delete(held, e.Process)
		}
	}
	return found
}

// turn is an event at which the number of clients that ask, or of critical sections, changes.
type turn struct {
	seq       int
	asks      int // clients more or less that ask
	uses      int // critical sections more or less that are on
	isGranted bool
}

// turns are those of a resource, in order.
func turns(asked []asking, used []use, granted []int) []turn {
	var turns []turn
	for _, a := range asked {
		turns = append(turns, turn{seq: a.from, asks: 1}, turn{seq: a.to, asks: -1})
	}
	for _, s := range used {
		turns = append(turns, turn{seq: s.from, uses: 1}, turn{seq: s.to, uses: -1})
	}
	for _, seq := range granted {
		turns = append(turns, turn{seq: seq, isGranted: true})
	}
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Compare(a.seq, b.seq) })
	return turns
}

// unavailable measures the longest true time in which at every moment some client was asking for a resource, no critical
// section was on, and nobody was granted. granted are the Seqs of its grants.
func unavailable(t *transcript, asked []asking, used []use, granted []int) Unavailable {
	turns := turns(asked, used, granted)
	var longest Unavailable
	asks, uses := 0, 0
	since := 0 // the Seq from which time counts, 0 while it does not
	until := 0 // the Seq at which the last client stopped asking, 0 while one asks
	end := func(seq int) {
		if since != 0 {
			w := t.window("", 0, since, seq)
			if long := w.To.Since(w.From); long > longest.For {
				longest = Unavailable{For: long, From: w.From, To: w.To, FromSeq: w.FromSeq, ToSeq: w.ToSeq}
			}
		}
		since, until = 0, 0
	}
	for len(turns) > 0 {
		seq, isGranted := turns[0].seq, false
		for len(turns) > 0 && turns[0].seq == seq {
			asks, uses, isGranted = asks+turns[0].asks, uses+turns[0].uses, isGranted || turns[0].isGranted
			turns = turns[1:]
		}
		if until != 0 && t.at(seq) > t.at(until) {
			end(until)
		}
		if isGranted || uses > 0 {
			end(seq)
		}
		switch {
		case uses > 0:
		case asks == 0 && until == 0:
			// Another may ask at the same true time, so that there is no gap.
			until = seq
		case asks > 0 && since == 0:
			since, until = seq, 0
		case asks > 0:
			until = 0
		}
	}
	end(until)
	if longest.For == 0 {
		return longest
	}
	to := longest.ToSeq
	if to == 0 {
		to = forever
	}
	for _, a := range asked {
		if a.from < to && a.to > longest.FromSeq {
			longest.Clients = append(longest.Clients, a.process)
		}
	}
	slices.Sort(longest.Clients)
	longest.Clients = slices.Compact(longest.Clients)
	return longest
}
