package scenarios

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"redlocksim/faults"
	"redlocksim/sim/history"
)

// FirstDifference says in words where two runs of one scenario part; empty if they do not. What clients are told and the
// resource takes comes before the steps that led there.
func FirstDifference(a, b history.History) string {
	return firstDifference(a, b, "in the first run", "in the second")
}

// DifferenceOn is that for a run on another tier.
func (r *Result) DifferenceOn(other *Result) string {
	return firstDifference(r.History, other.History, r.Tier.on(), other.Tier.on())
}

// firstDifference is that for runs that have been made first here and second there.
func firstDifference(a, b history.History, first, second string) string {
	x, y, part := parting(a, b, func(e *history.Event) bool { return e.Kind != history.Step })
	if !part {
		if x, y, part = parting(a, b, func(*history.Event) bool { return true }); !part {
			return ""
		}
	}
	return fmt.Sprintf("%s %s, and %s %s", first, described(x), second, described(y))
}

// parting gives the first events, of some, in which two histories differ; nil for one that has none left. Their numbers do not
// count: what came between them does not either.
func parting(a, b history.History, counts func(*history.Event) bool) (x, y *history.Event, part bool) {
	next := func(h history.History, i int) int {
		for i < len(h) && !counts(&h[i]) {
			i++
		}
		return i
	}
	for i, j := next(a, 0), next(b, 0); i < len(a) || j < len(b); i, j = next(a, i+1), next(b, j+1) {
		switch {
		case i >= len(a):
			return nil, &b[j], true
		case j >= len(b):
			return &a[i], nil, true
		}
		one, other := a[i], b[j]
		one.Seq, other.Seq = 0, 0
		if one != other {
			return &a[i], &b[j], true
		}
	}
	return nil, nil, false
}

// described is an event as a history has it, but for its number, after who it is of and when, for people.
func described(e *history.Event) string {
	if e == nil {
		return "nothing more happens"
	}
	exactly := *e
	exactly.Seq = 0
	text, err := json.Marshal(exactly)
	if err != nil {
		panic(err) // it has texts and numbers
	}
	who := cmp.Or(e.Process, e.Node)
	return fmt.Sprintf("at %v %s %s (%s)", time.Duration(e.Time), who, cmp.Or(faults.EventName(e), string(e.Kind)), text)
}
