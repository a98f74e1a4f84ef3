package timeline

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"redlocksim/history"
	"redlocksim/internal/plural"
	"redlocksim/redlock/observe"
)

// fewestFolded is how many attempts in a row are drawn as one band; fewer are drawn one by one.
const fewestFolded = 4

// foldPolling draws the failed attempts of a call as one band with their number, and marks their messages as folded. The
// first attempt and the last are drawn as they are. A lock that does not tell of its attempts has requests.
func (b *builder) foldPolling() {
	tries := map[int][]Instant{} // by the call
	returned := map[int]Instant{}
	var calls []history.Event
	for _, e := range b.result.History {
		switch {
		case e.Kind == history.Step && e.Name == observe.AttemptStarted.String():
			tries[e.Op] = append(tries[e.Op], Instant(e.Time))
		case e.Kind == history.Call && e.Func == history.Acquire:
			calls = append(calls, e)
		case e.Kind == history.Return:
			returned[e.Op] = Instant(e.Time)
		}
	}
	for _, call := range calls {
		lane := b.owner(call.Process)
		at, what := tries[call.Op], "attempt"
		if at == nil {
			at, what = b.requests(lane, Instant(call.Time), cmp.Or(returned[call.Op], math.MaxInt64)), "request"
		}
		if folded := len(at) - 2; folded >= fewestFolded && lane >= 0 {
			b.fold(lane, call, Stretch{at[1], at[len(at)-1]}, folded, what)
		}
	}
}

// requests is when a client sends something during a stretch: once for all that goes to several nodes at an instant.
func (b *builder) requests(lane int, from, to Instant) (at []Instant) {
	for i := range b.t.Arrows {
		if a := &b.t.Arrows[i]; a.Client == lane && !a.IsReply && from <= a.Sent && a.Sent < to {
			at = append(at, a.Sent)
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// fold draws attempts as a band, unless the client has something else to do meanwhile: the messages may be of that.
func (b *builder) fold(lane int, call history.Event, s Stretch, tries int, what string) {
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
	label := plural.Count(tries, "more "+what)
	b.span(call.Process, Span{Kind: pollingSpan, From: s.From, Owner: lane, Resource: b.named(call.Resource), Label: label, Short: fmt.Sprintf("%d×", tries),
		Text: fmt.Sprintf("%s makes %s and is not granted the lock, %s", call.Process, label, b.during(s.From, int64(s.To)))}, int64(s.To))
	for i := range b.t.Arrows {
		if a := &b.t.Arrows[i]; a.Client == lane && a.Sent >= s.From && a.Sent < s.To {
			a.Folded = true
		}
	}
}
