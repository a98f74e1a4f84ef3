package timeline

import (
	"fmt"

	"redlocksim/history"
	"redlocksim/internal/plural"
	"redlocksim/redlock/observe"
)

// fewestFolded is how many attempts in a row are drawn as one band; fewer are drawn one by one.
const fewestFolded = 4

// foldPolling draws the failed attempts of a call as one band with their number, and marks their messages as folded. The
// first attempt and the last are drawn as they are.
func (b *builder) foldPolling() {
	starts := map[int][]Instant{} // by the call
	var calls []history.Event
	for _, e := range b.result.History {
		if e.Kind != history.Step || e.Name != observe.AttemptStarted.String() {
			continue
		}
		if starts[e.Op] == nil {
			calls = append(calls, e)
		}
		starts[e.Op] = append(starts[e.Op], Instant(e.Time))
	}
	for _, call := range calls {
		at, lane := starts[call.Op], b.owner(call.Process)
		if folded := len(at) - 2; folded >= fewestFolded && lane >= 0 {
			b.fold(lane, call, Stretch{at[1], at[len(at)-1]}, folded)
		}
	}
}

// fold draws attempts as a band, unless the client has something else to do meanwhile: the messages may be of that.
func (b *builder) fold(lane int, call history.Event, s Stretch, attempts int) {
	asking := 0
	for _, o := range b.t.Lanes[lane].Spans {
		if o.From < s.To && s.From < o.To {
			switch o.Kind {
			case believedSpan:
				return
			case askingSpan:
				asking++
			}
		}
	}
	if asking != 1 {
		return
	}
	label := plural.Count(attempts, "more attempt")
	b.span(call.Process, Span{Kind: pollingSpan, From: s.From, Owner: lane, Resource: b.named(call.Resource), Label: label, Short: fmt.Sprintf("%d×", attempts),
		Text: fmt.Sprintf("%s makes %s and is not granted the lock, %s", call.Process, label, b.during(s.From, int64(s.To)))}, int64(s.To))
	for i := range b.t.Arrows {
		if a := &b.t.Arrows[i]; a.Client == lane && a.Sent >= s.From && a.Sent < s.To {
			a.Folded = true
		}
	}
}
