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
	"redlocksim/sim/storage"
)

// addWindows adds the believed windows, which the checker finds.
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
		to, why := forever, ""
		if w.ToSeq > 0 {
			to, why = Instant(w.To), ": "+story.Ended(&h[w.ToSeq-1])
		}
		on := resources[w.Grant]
		b.span(w.Process, Span{Kind: believedSpan, From: Instant(w.From), Owner: b.owner(w.Process), Grant: w.Grant, Resource: b.named(on),
			Label: fmt.Sprintf("believes%s (grant %d)", b.behind(" in ", on), w.Grant),
			Text: fmt.Sprintf("%s believes in its lock%s (grant %d) from %s to %s, for %v%s", w.Process, b.behind(" on ", on), w.Grant,
				seconds(Instant(w.From)), b.until(to), rounded.Duration(w.To.Since(w.From)), why)}, to)
	}
	return nil
}

// addCalls adds the times in which clients ask for a lock: from a call to its return, the crash of the client, or the end of
// the run.
func (b *builder) addCalls() {
	h := b.result.History
	type ask struct {
		call *history.Event
		ends int // its place; len(h) or more if nothing does
	}
	var asks []ask
	for i := range h {
		e := &h[i]
		if e.Kind == history.Call && e.Func == history.Acquire {
			ends := slices.IndexFunc(h[i:], func(o history.Event) bool {
				return o.Kind == history.Return && o.Op == e.Op || o.Kind == history.Crash && o.Process == e.Process
			})
			if ends < 0 {
				ends = len(h)
			}
			asks = append(asks, ask{e, i + ends})
		}
	}
	slices.SortStableFunc(asks, func(x, y ask) int { return x.ends - y.ends })
	for _, a := range asks {
		call, to, became := a.call, forever, ""
		if a.ends < len(h) {
			to = Instant(h[a.ends].Time)
			became = map[history.Outcome]string{history.OK: " and gets it", history.Failed: " and does not get it"}[h[a.ends].Outcome]
		}
		b.span(call.Process, Span{Kind: askingSpan, From: Instant(call.Time), Owner: b.owner(call.Process), Resource: b.named(call.Resource), Label: "requests",
			Text: fmt.Sprintf("%s requests the lock%s from %s to %s%s", call.Process, b.behind(" on ", call.Resource), seconds(Instant(call.Time)), b.until(to), became)}, to)
	}
}

// addActs adds the acting windows, and a mark for each effect.
func (b *builder) addActs() {
	h := b.result.History
	type act struct {
		last    *history.Event
		from    Instant
		effects int
	}
	acts := map[int]*act{}
	var order []int
	for i := range h {
		e := &h[i]
		if e.Kind != history.Effect {
			continue
		}
		at := cmp.Or(e.Node, storage.Name)
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
		if acts[e.Grant] == nil {
			acts[e.Grant] = &act{from: m.At}
			order = append(order, e.Grant)
		}
		acts[e.Grant].last = e
		acts[e.Grant].effects++
	}
	for _, grant := range order {
		a := acts[grant]
		to, who, on := Instant(a.last.Time), a.last.Process, a.last.Resource
		b.span(who, Span{Kind: actingSpan, From: a.from, Owner: b.owner(who), Grant: grant, Resource: b.named(on), Label: "acts",
			Text: fmt.Sprintf("%s acts under grant %d from %s to %s: the resource%s accepts %s", who, grant, seconds(a.from), seconds(to),
				b.behind(" ", on), plural.Count(a.effects, "effect"))}, to)
	}
}

// addMarks adds the faults that affect a process, but for those that show as the stretch in which it stands still, and the
// crashes of clients.
func (b *builder) addMarks() {
	for i := range b.result.History {
		e := &b.result.History[i]
		at := Instant(e.Time)
		switch e.Kind {
		case history.Crash:
			b.mark(e.Process, Mark{Kind: crashMark, At: at, Label: "crash", Text: fmt.Sprintf("%s crashes at %s", e.Process, seconds(at))})
		case history.Fault:
			if kind, _ := faults.Find(e.Name); e.Detail != "" && (b.rec == nil || !kind.Halts) {
				sentence := rounded.Text(e.Detail)
				b.mark(cmp.Or(e.Process, e.Node), Mark{Kind: faultMark, At: at, Label: faultLabel(e), Sentence: sentence, Text: seconds(at) + ": " + sentence})
			}
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
