package timeline

import (
	"fmt"

	"redlocksim/sim"
)

// addStates adds what keeps processes from running, and how wrong their clocks are.
func (b *builder) addStates() {
	kinds := map[sim.Condition]SpanKind{sim.Paused: pausedSpan, sim.Suspended: suspendedSpan, sim.Crashed: crashedSpan, sim.Down: downSpan, sim.Off: offSpan}
	words := map[sim.Condition]string{sim.Paused: "is paused", sim.Suspended: "is suspended with its machine", sim.Crashed: "has crashed",
		sim.Down: "is down and refuses connections", sim.Off: "is off and answers nobody"}
	states := b.result.Recording.States
	for i, s := range states {
		until := int64(sim.Forever)
		for _, next := range states[i+1:] {
			if next.Process == s.Process {
				until = int64(next.At)
				break
			}
		}
		if lane, ok := b.lanes[s.Process]; ok {
			l := &b.t.Lanes[lane]
			if s.Wall != 0 || s.Mono != 0 || s.Rate != 0 || s.Condition == sim.Suspended || len(l.Clocks) > 0 {
				l.Clocks = append(l.Clocks, Reading{At: Instant(s.At), Wall: int64(s.Wall), Mono: int64(s.Mono), Rate: s.Rate, Stopped: s.Condition == sim.Suspended})
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
	b.span(process, Span{Kind: kind, From: from, Owner: -1, Label: string(kind), Text: fmt.Sprintf("%s %s %s", process, words, b.during(from, until))}, until)
}
