package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/internal/rounded"
)

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
