package verdict

import (
	"fmt"
	"slices"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
)

// missed says what of that which must be reached was not, in words.
func missed(all []scenarios.Reached, h history.History) []string {
	var missed []string
	for _, r := range all {
		if !comesTo(h, &r) {
			missed = append(missed, fmt.Sprintf("%v: it never came to that", r))
		}
	}
	return missed
}

// comesTo says whether a history has it.
func comesTo(h history.History, r *scenarios.Reached) bool {
	from, to := 0, len(h)
	if r.After != nil {
		from = nth(h, r.After) + 1
		if from == 0 {
			return false
		}
	}
	if r.Before != nil {
		if to = nth(h, r.Before); to < 0 {
			return false
		}
	}
	left := max(r.Nth, 1)
	believes, past := tracker{client: r.Believing}, tracker{client: r.Past}
	for i := range h {
		e := &h[i]
		if i >= from && i < to && r.Matches(e) && (r.Believing == "" || believes.now) && (r.Past == "" || past.ended) {
			if left--; left == 0 {
				return true
			}
		}
		believes.see(e)
		past.see(e)
	}
	return false
}

// nth is the index of an event; −1 if it is not there.
func nth(h history.History, m *faults.Moment) int {
	left := max(m.Nth, 1)
	return slices.IndexFunc(h, func(e history.Event) bool {
		if m.Matches(&e) {
			left--
		}
		return left == 0
	})
}

// tracker follows what a client believes.
type tracker struct {
	client string
	now    bool // it believes in a lock
	ended  bool // the belief in its last lock ran out
}

func (t *tracker) see(e *history.Event) {
	if t.client == "" || e.Process != t.client {
		return
	}
	switch {
	case e.Kind == history.Return && e.Func != history.Release && e.Grant != 0 && e.Outcome == history.OK &&
		(e.Func == history.Acquire || e.Func == history.Extend):
		t.now, t.ended = true, false
	case e.Kind == history.Expire:
		t.ended = t.now || t.ended
		t.now = false
	case e.Kind == history.Call && e.Func == history.Release, e.Kind == history.Crash:
		t.now, t.ended = false, false
	}
}
