package scenarios

import (
	"fmt"
	"strings"
	"time"

	"redlocksim/internal/rounded"
	"redlocksim/sim/history"
)

// FirstDifference says in words where two runs of one scenario part; empty if they do not. What clients are told and the
// resource takes comes before the steps that led there.
func FirstDifference(a, b history.History) string {
	return firstDifference(a, b, "in the first run", "in the second")
}

// DifferenceOn is that for a run on another tier.
func (r *Result) DifferenceOn(other *Result) string {
	return firstDifference(r.History, other.History, r.Tier.on(), other.Tier.on())
}

// firstDifference is that for runs that have been made first here and second there.
func firstDifference(a, b history.History, first, second string) string {
	x, y, part := parting(a, b, func(e *history.Event) bool { return e.Kind != history.Step })
	if !part {
		if x, y, part = parting(a, b, func(*history.Event) bool { return true }); !part {
			return ""
		}
	}
	one, other := described(x, rounded.Duration), described(y, rounded.Duration)
	if one == other {
		exact := func(d time.Duration) time.Duration { return d }
		if one, other = described(x, exact), described(y, exact); one == other {
			return fmt.Sprintf("%s, with another record of it %s than %s", one, second, first)
		}
	}
	return fmt.Sprintf("%s %s, and %s %s", first, one, second, other)
}

// parting gives the first events, of some, in which two histories differ; nil for one that has none left. Their numbers do not
// count: what came between them does not either.
func parting(a, b history.History, counts func(*history.Event) bool) (x, y *history.Event, part bool) {
	next := func(h history.History, i int) int {
		for i < len(h) && !counts(&h[i]) {
			i++
		}
		return i
	}
	for i, j := next(a, 0), next(b, 0); i < len(a) || j < len(b); i, j = next(a, i+1), next(b, j+1) {
		switch {
		case i >= len(a):
			return nil, &b[j], true
		case j >= len(b):
			return &a[i], nil, true
		}
		one, other := a[i], b[j]
		one.Seq, other.Seq = 0, 0
		if one != other {
			return &a[i], &b[j], true
		}
	}
	return nil, nil, false
}

// described says what happened and when; length says how exactly.
func described(e *history.Event, length func(time.Duration) time.Duration) string {
	if e == nil {
		return "nothing more happens"
	}
	var aside []string
	add := func(is bool, format string, args ...any) {
		if is {
			aside = append(aside, fmt.Sprintf(format, args...))
		}
	}
	add(e.Kind == history.Return && e.Span > 0, "valid for %v", length(time.Duration(e.Span)))
	add(e.Token != 0, "token %d", e.Token)
	add(e.Kind == history.Step && e.Number > 0, "attempt %d", e.Number)
	add(e.Detail != "" && e.Kind != history.Fault, "%s", e.Detail)
	text := happened(e) + fmt.Sprintf(" at %v", length(time.Duration(e.Time)))
	if aside != nil {
		text += " (" + strings.Join(aside, ", ") + ")"
	}
	return text
}

// happened says what an event is, without when.
func happened(e *history.Event) string {
	on := fmt.Sprintf("%q", e.Resource)
	switch e.Kind {
	case history.Call:
		return fmt.Sprintf("%s asks to %s %s", e.Process, e.Func, on)
	case history.Return:
		return e.Process + " " + outcome(e, on)
	case history.Expire:
		return fmt.Sprintf("%s's lease on %s ends", e.Process, on)
	case history.Crash:
		return e.Process + " crashes"
	case history.Effect:
		took := "accepts"
		if e.Outcome != history.OK {
			took = "refuses"
		}
		return fmt.Sprintf("the resource %s %s's %s of %s (%d)", took, e.Process, e.Func, on, e.Number)
	case history.Fault:
		return strings.TrimSpace(e.Detail)
	}
	text := fmt.Sprintf("the library of %s reports %q", e.Process, e.Name)
	if e.Node != "" {
		text += " of " + e.Node
	}
	return text
}

// outcome is how an operation on a resource ended.
func outcome(e *history.Event, on string) string {
	switch {
	case e.Outcome == history.Unknown:
		return fmt.Sprintf("does not hear what became of its %s of %s", e.Func, on)
	case e.Func == history.Acquire && e.Outcome == history.OK:
		return "is granted the lock " + on
	case e.Func == history.Acquire:
		return "is refused the lock " + on
	case e.Func == history.Extend && e.Outcome == history.OK:
		return "extends its lease on " + on
	case e.Func == history.Extend:
		return "is refused to extend its lease on " + on
	case e.Func == history.Release && e.Outcome == history.OK:
		return "has released the lock " + on
	case e.Func == history.Release:
		return "could not release the lock " + on
	case e.Outcome == history.OK:
		return fmt.Sprintf("is through with its %s of %s (%d)", e.Func, on, e.Number)
	}
	return fmt.Sprintf("is refused its %s of %s", e.Func, on)
}
