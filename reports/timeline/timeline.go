package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"redlocksim/internal/rounded"
	"redlocksim/reports/story"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
)

// Of makes the timeline of a judged run, which it makes once more for that, unless it is of tier live. repeat is the command
// that makes the run again. The error is that of [verdict.Result.Again], or an internal one: the history is not one.
func Of(r *verdict.Result, repeat string) (*Timeline, error) {
	rec, err := record(r)
	if err != nil {
		return nil, err
	}
	return build(r, rec, repeat)
}

func build(r *verdict.Result, rec *recorder, repeat string) (*Timeline, error) {
	b := builder{result: r, rec: rec, end: Instant(r.Scenario.Duration), lanes: map[string]int{},
		t: &Timeline{Name: r.Scenario.Name, Title: r.Scenario.Title, Source: r.Scenario.Source, About: strings.TrimSpace(r.Scenario.Explanation), Verdict: r.Says(),
			Expected: r.Scenario.Says(), headline: r.Headline(), isBroken: r.IsBroken(), OK: r.OK(), IsOnOne: r.IsOnOne(), Repeat: repeat, Run: fmt.Sprintf("tier %s, seed %d", r.Tier, r.Seed), History: r.HistoryHash,
			Notes: []string{}, Arrows: []Arrow{}, Story: []Step{}}}
	if r.Tier == scenarios.Live {
		b.t.Run = "tier live"
	}
	if n := len(r.History); n > 0 {
		b.end = max(b.end, Instant(r.History[n-1].Time))
	}
	b.addResources()
	b.addLanes()
	if err := b.addWindows(); err != nil {
		return nil, err
	}
	b.addCalls()
	b.addActs()
	b.addMarks()
	if rec != nil {
		b.addStates()
		b.addObstacles()
		b.addKeys()
		b.addArrows()
		b.foldPolling()
	} else {
		b.t.Notes = append(b.t.Notes, "Messages, keys and clocks were not recorded: this shows what the history tells.")
	}
	b.addStory()
	b.addViolation()
	b.arrange()
	b.crop()
	return b.t, nil
}

func (b *builder) addStory() {
	for i, l := range story.Of(b.result.History, b.result.Monitored...) {
		b.t.Story = append(b.t.Story, Step{Number: i + 1, At: Instant(l.Time), Text: l.Text})
	}
}

func (b *builder) addViolation() {
	f := b.result.Defect()
	if f == nil {
		return
	}
	v := &Violation{Kind: string(f.Kind), Text: rounded.Text(f.Text), Resource: b.named(f.Resource), From: Instant(f.From), To: Instant(f.To), Windows: []Witness{}}
	for _, w := range f.Windows {
		if lane, ok := b.lanes[w.Process]; ok {
			v.Windows = append(v.Windows, Witness{Lane: lane, Grant: w.Grant, From: Instant(w.From), To: Instant(w.To)})
		}
	}
	b.t.Violation = v
}

// arrange orders spans and marks, and gives those that overlap rows of their own.
func (b *builder) arrange() {
	for i := range b.t.Lanes {
		l := &b.t.Lanes[i]
		slices.SortStableFunc(l.Spans, func(x, y Span) int { return cmp.Compare(x.From, y.From) })
		slices.SortStableFunc(l.Marks, func(x, y Mark) int { return cmp.Compare(x.At, y.At) })
		used, first := b.used(l), map[sharing]int{}
		taken := map[sharing][]Instant{} // until when each row is
		for j := range l.Spans {
			s := &l.Spans[j]
			with := sharing{s.Kind, s.Resource}
			switch {
			case s.Resource != "" && s.Kind != votesSpan:
				s.Row = slices.Index(used, s.Resource) // a row for each resource, in their order
				continue
			case s.Kind == heldSpan || s.Kind == slowSpan:
				with.kind = cutSpan
			}
			rows := taken[with]
			if s.Row = slices.IndexFunc(rows, func(end Instant) bool { return end <= s.From }); s.Row < 0 {
				s.Row, rows = len(rows), append(rows, 0)
			}
			rows[s.Row] = s.To
			taken[with] = rows
		}
		// The votes on a resource come below those on the resources before it.
		for k := 1; k < len(used); k++ {
			before := sharing{votesSpan, used[k-1]}
			first[sharing{votesSpan, used[k]}] = first[before] + max(1, len(taken[before]))
		}
		for j := range l.Spans {
			if s := &l.Spans[j]; s.Kind == votesSpan {
				s.Row += first[sharing{s.Kind, s.Resource}]
			}
		}
	}
}

// sharing is what shares rows: spans of a kind, on one resource.
type sharing struct {
	kind     SpanKind
	resource string
}
