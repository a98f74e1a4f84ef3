package timeline

import (
	"fmt"
	"time"

	"redlocksim/internal/rounded"
	"redlocksim/sim/kernel"
	"redlocksim/sim/recording"
)

// addStates adds what keeps processes from running, and how wrong their clocks are.
func (b *builder) addStates() {
	kinds := map[recording.Condition]SpanKind{recording.Paused: pausedSpan, recording.Suspended: suspendedSpan, recording.Crashed: crashedSpan, recording.Down: downSpan, recording.Off: offSpan}
	words := map[recording.Condition]string{recording.Paused: "is paused", recording.Suspended: "is suspended with its machine", recording.Crashed: "has crashed",
		recording.Down: "is down and refuses connections", recording.Off: "is off and answers nobody"}
	states := b.result.Recording.States
	for i, s := range states {
		until := int64(kernel.Forever)
		for _, next := range states[i+1:] {
			if next.Process == s.Process {
				until = int64(next.At)
				break
			}
		}
		if lane, ok := b.lanes[s.Process]; ok {
			l := &b.t.Lanes[lane]
			if s.Wall != 0 || s.Mono != 0 || s.Rate != 0 || s.Condition == recording.Suspended || len(l.Clocks) > 0 {
				l.Clocks = append(l.Clocks, Reading{At: Instant(s.At), Wall: int64(s.Wall), Mono: int64(s.Mono), Rate: s.Rate, Stopped: s.Condition == recording.Suspended})
			}
		}
		if kind, ok := kinds[s.Condition]; ok {
			b.condition(s.Process, kind, words[s.Condition], Instant(s.At), until)
		}
	}
}

// condition adds a span of a process's condition, or makes the last one longer that is the same: a clock was changed
// meanwhile.
func (b *builder) condition(process string, kind SpanKind, words string, from Instant, until int64) {
	if lane, ok := b.lanes[process]; ok {
		spans := b.t.Lanes[lane].Spans
		if n := len(spans) - 1; n >= 0 && spans[n].Kind == kind && spans[n].To == from {
			from = spans[n].From
			b.t.Lanes[lane].Spans = spans[:n]
		}
	}
	label := string(kind)
	if (kind == pausedSpan || kind == suspendedSpan) && until <= int64(b.end) {
		label = fmt.Sprintf("%s %s for %v", process, words, rounded.Duration(time.Duration(until-int64(from))))
	}
	b.span(process, Span{Kind: kind, From: from, Owner: -1, Label: label, Short: string(kind), Text: fmt.Sprintf("%s %s %s", process, words, b.during(from, until))}, until)
}
