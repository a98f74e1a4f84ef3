package verdict

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
)

// FirstDifference says in words where two runs of one scenario part; empty if they do not. What clients are told and the
// resource takes comes before the steps that led there.
func FirstDifference(a, b history.History) string {
	return firstDifference(a, b, "in the first run", "in the second")
}

// DifferenceOn is that for a run on another tier.
func (r *Result) DifferenceOn(other *Result) string {
	return firstDifference(r.History, other.History, on(r.Tier), on(other.Tier))
}

// on is a tier as the place of a run.
func on(t scenarios.Tier) string { return "on tier " + string(t) }

// firstDifference is that for runs that have been made first here and second there.
func firstDifference(a, b history.History, first, second string) string {
	for _, counts := range []func(*history.Event) bool{
		func(e *history.Event) bool { return e.Kind != history.Step },
		func(*history.Event) bool { return true },
	} {
		if x, y := parting(a, b, counts); x != y {
			return fmt.Sprintf("%s %s, and %s %s", first, described(x), second, described(y))
		}
	}
	return ""
}

// parting gives the first events, of those that count, in which two histories differ; nil for one that has none left, and for
// both if they do not differ. Their numbers do not count: what came between them does not either.
func parting(a, b history.History, counts func(*history.Event) bool) (x, y *history.Event) {
	next := func(h *history.History) (e *history.Event) {
		for len(*h) > 0 && (e == nil || !counts(e)) {
			e, *h = &(*h)[0], (*h)[1:]
		}
		if e != nil && !counts(e) {
			return nil
		}
		return e
	}
	for {
		switch x, y = next(&a), next(&b); {
		case x == nil || y == nil:
			return x, y
		case unnumbered(*x) != unnumbered(*y):
			return x, y
		}
	}
}

func unnumbered(e history.Event) history.Event {
	e.Seq = 0
	return e
}

// described is an event as a history has it, but for its number, after who it is of and when, for people.
func described(e *history.Event) string {
	if e == nil {
		return "nothing more happens"
	}
	text, err := json.Marshal(unnumbered(*e))
	if err != nil {
		panic(err) // it has texts and numbers
	}
	who := cmp.Or(e.Process, e.Node)
	return fmt.Sprintf("at %v %s %s (%s)", time.Duration(e.Time), who, cmp.Or(faults.EventName(e), string(e.Kind)), text)
}
