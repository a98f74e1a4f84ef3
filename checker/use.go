package checker

import (
	"slices"

	"redlocksim/sim/history"
)

// stoppingFaults keep a client from ending its critical section for as long as they last.
var stoppingFaults = []string{"pause", "cut-off"}

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
	for i := range t.kept {
		e := &t.kept[i]
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
