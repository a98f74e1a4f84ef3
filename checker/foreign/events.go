package foreign

import (
	"cmp"
	"slices"
)

// event is the call of an operation that may have happened, or the return of one that did.
type event struct {
	at, op int32
	ret    bool
}

// events are those of some operations, in their order. Operations that failed have none, nor have extends of unknown outcome,
// which change nothing that another could see.
func (h *recording) events(ops []int32) []event {
	events := make([]event, 0, 2*len(ops))
	for _, i := range ops {
		o := &h.ops[i]
		if o.outcome == failed || o.outcome == unknown && o.fn == extend {
			continue
		}
		events = append(events, event{o.call, i, false})
		if o.outcome == ok {
			events = append(events, event{o.ret, i, true})
		}
	}
	slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return events
}
