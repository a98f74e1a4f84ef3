package timeline

import (
	"fmt"
	"strings"

	"redlocksim/checker"
	"redlocksim/history"
	"redlocksim/internal/rounded"
	"redlocksim/reports/story"
	"redlocksim/sim/kernel"
)

// addWindows adds the believed windows, which the checker finds, and the times in which clients ask.
func (b *builder) addWindows() error {
	h := b.result.History
	windows, err := checker.Windows(h, b.result.Scenario.CheckOptions())
	if err != nil {
		return fmt.Errorf("timeline: %w", err)
	}
	resources := map[int]string{} // by grant
	for i := range h {
		if h[i].Kind == history.Call && h[i].Func == history.Acquire {
			resources[h[i].Op] = h[i].Resource
		}
	}
	for _, w := range windows {
		to, until, why := int64(w.To), seconds(Instant(w.To)), ""
		if w.ToSeq == 0 {
			to, until = int64(kernel.Forever), "the end of the run"
		} else {
			why = ": " + story.Ended(&h[w.ToSeq-1])
		}
		on := resources[w.Grant]
		b.span(w.Process, Span{Kind: believedSpan, From: Instant(w.From), Owner: b.owner(w.Process), Grant: w.Grant, Resource: b.named(on),
			Label: fmt.Sprintf("believes%s (grant %d)", b.behind(" in ", on), w.Grant),
			Text:  fmt.Sprintf("%s believes in its lock%s (grant %d) from %s to %s, for %v%s", w.Process, b.behind(" on ", on), w.Grant, seconds(Instant(w.From)), until, rounded.Duration(w.To.Since(w.From)), why)}, to)
	}
	calls := map[int]int64{}
	for i := range h {
		e := &h[i]
		switch {
		case e.Func == history.Acquire && e.Kind == history.Call:
			calls[e.Op] = e.Time
		case e.Func == history.Acquire && e.Kind == history.Return:
			b.asking(e.Process, resources[e.Op], calls[e.Op], e.Time, e.Outcome)
			delete(calls, e.Op)
		case e.Kind == history.Crash:
			for j := range h[:i] { // in the order of the calls
				if from, open := calls[h[j].Op]; open && h[j].Process == e.Process && h[j].Kind == history.Call {
					b.asking(e.Process, h[j].Resource, from, e.Time, "")
					delete(calls, h[j].Op)
				}
			}
		}
	}
	for i := range h {
		if from, open := calls[h[i].Op]; open && h[i].Kind == history.Call && h[i].Func == history.Acquire {
			b.asking(h[i].Process, h[i].Resource, from, int64(kernel.Forever), "")
		}
	}
	return nil
}

func (b *builder) asking(process, resource string, from, to int64, outcome history.Outcome) {
	became := map[history.Outcome]string{history.OK: "and gets it", history.Failed: "and does not get it"}[outcome]
	until := seconds(Instant(to))
	if to > int64(b.end) {
		until = "the end of the run"
	}
	b.span(process, Span{Kind: askingSpan, From: Instant(from), Owner: b.owner(process), Resource: b.named(resource), Label: "requests",
		Text: strings.TrimSpace(fmt.Sprintf("%s requests the lock%s from %s to %s %s", process, b.behind(" on ", resource), seconds(Instant(from)), until, became))}, to)
}
