package timeline

import (
	"cmp"
	"fmt"
	"time"

	"redlocksim/internal/rounded"
	"redlocksim/reports/story"
	"redlocksim/scenarios"
)

// builder makes a Timeline.
type builder struct {
	t      *Timeline
	result *scenarios.Result
	end    Instant        // of the run
	lanes  map[string]int // by the process's name, from 0; only those there are
	losses []change       // of votes that a client believes in
}

// span adds a span to the lane of a process. to is the end of a span that is over, or a time later than any in the run.
func (b *builder) span(process string, s Span, to int64) {
	lane, ok := b.lanes[process]
	if !ok {
		return
	}
	if s.To = Instant(to); s.To > b.end {
		s.To, s.Open = b.end, true
	}
	s.Short = cmp.Or(s.Short, s.Resource)
	l := &b.t.Lanes[lane]
	l.Spans = append(l.Spans, s)
}

// owner is the lane of a client; -1 if it is none.
func (b *builder) owner(process string) int {
	lane, ok := b.lanes[process]
	if !ok || b.t.Lanes[lane].Kind != clientLane {
		return -1
	}
	return lane
}

func (b *builder) mark(process string, m Mark) {
	if lane, ok := b.lanes[process]; ok {
		b.t.Lanes[lane].Marks = append(b.t.Lanes[lane].Marks, m)
	}
}

// during says from when to when.
func (b *builder) during(from Instant, until int64) string {
	if until > int64(b.end) {
		return fmt.Sprintf("from %s on", seconds(from))
	}
	return fmt.Sprintf("from %s to %s, for %v", seconds(from), seconds(Instant(until)), rounded.Duration(time.Duration(until-int64(from))))
}

// seconds is an instant as the story has it.
func seconds(t Instant) string { return story.Seconds(time.Duration(t)) }
