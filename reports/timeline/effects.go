package timeline

import (
	"fmt"
	"strings"

	"redlocksim/history"
	"redlocksim/internal/plural"
	"redlocksim/sim/storage"
)

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
