package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/internal/plural"
	"redlocksim/internal/rounded"
	"redlocksim/reports/story"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/storage"
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

// addActs adds the acting windows, and a mark for each effect.
func (b *builder) addActs() {
	h := b.result.History
	type act struct {
		process  string
		resource string
		from, to int64
		effects  int
	}
	acts := map[int]*act{}
	var order []int
	for i := range h {
		e := &h[i]
		if e.Kind != history.Effect {
			continue
		}
		at := e.Node
		if at == "" {
			at = storage.Name
		}
		m := Mark{Kind: acceptedMark, At: Instant(e.Time), Label: string(e.Func)}
		verb := "accepts"
		if e.Outcome != history.OK {
			m.Kind, verb = refusedMark, "rejects"
		}
		what := string(e.Func)
		if e.Func == history.Write {
			what = fmt.Sprintf("%s of %d", e.Func, e.Number)
		}
		m.Text = fmt.Sprintf("%s %s %s's %s%s at %s", at, verb, e.Process, what, b.behind(" on ", e.Resource), seconds(m.At))
		if e.Token != 0 {
			m.Text += fmt.Sprintf(" (token %d)", e.Token)
		}
		b.mark(e.Process, m)
		m.Label = e.Process + b.behind(" on ", e.Resource) + ": " + strings.ReplaceAll(what, " of", "")
		b.mark(at, m)
		if e.Outcome != history.OK || e.Grant == 0 {
			continue
		}
		a := acts[e.Grant]
		if a == nil {
			a = &act{process: e.Process, resource: e.Resource, from: e.Time}
			acts[e.Grant] = a
			order = append(order, e.Grant)
		}
		a.to = e.Time
		a.effects++
	}
	for _, grant := range order {
		a := acts[grant]
		b.span(a.process, Span{Kind: actingSpan, From: Instant(a.from), Owner: b.owner(a.process), Grant: grant, Resource: b.named(a.resource), Label: "acts",
			Text: fmt.Sprintf("%s acts under grant %d from %s to %s: the resource%s accepts %s", a.process, grant, seconds(Instant(a.from)), seconds(Instant(a.to)), b.behind(" ", a.resource), plural.Count(a.effects, "effect"))}, a.to)
	}
}

// spells are faults that show as spans.
var spells = []string{"pause", "suspend", "resume"}

// addMarks adds the faults that affect a process, and the crashes of clients.
func (b *builder) addMarks() {
	for _, e := range b.result.History {
		switch e.Kind {
		case history.Crash:
			b.mark(e.Process, Mark{Kind: crashMark, At: Instant(e.Time), Label: "crash", Text: fmt.Sprintf("%s crashes at %s", e.Process, seconds(Instant(e.Time)))})
		case history.Fault:
			process := cmp.Or(e.Process, e.Node)
			if e.Detail == "" || process == "" || b.result.Recording != nil && slices.Contains(spells, e.Name) {
				continue
			}
			b.mark(process, Mark{Kind: faultMark, At: Instant(e.Time), Label: faultLabel(&e), Sentence: rounded.Text(e.Detail), Text: fmt.Sprintf("%s: %s", seconds(Instant(e.Time)), rounded.Text(e.Detail))})
		}
	}
}

// faultLabel is a word or two for a fault.
func faultLabel(e *history.Event) string {
	if e.Name == "clock-step" {
		return fmt.Sprintf("clock %+gs", time.Duration(e.Span).Seconds())
	}
	if how, ok := strings.CutPrefix(e.Detail, "the clocks of "+cmp.Or(e.Process, e.Node)+" run "); ok {
		return "clocks " + how
	}
	return strings.ReplaceAll(faults.EventName(e), "-", " ")
}
