package reports

import (
	"fmt"
	"io"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/scenarios"
)

// maxLines is how much of a story is told without --full; the rest is counted.
const maxLines = 60

// Run writes the report of one run: the story, the verdict, the windows that overlap, and how to repeat it.
func Run(w io.Writer, r *scenarios.Result, repeat string, full bool) error {
	b := &strings.Builder{}
	s := r.Scenario
	fmt.Fprintf(b, "%s: %s\n", s.Name, s.Title)
	fmt.Fprintf(b, "  %s\n\n", s.Source)
	story(b, r, full)

	fmt.Fprintf(b, "\nverdict    %s\n", r.Verdict())
	fmt.Fprintf(b, "expected   %s (claim: %s)\n", s.Expect, s.Claim)
	if f := r.Witness(); f != nil {
		witness(b, r.History, f)
		switch {
		case r.Beyond == nil:
			fmt.Fprintf(b, "budget     kept: the settings themselves are to blame\n")
		default:
			fmt.Fprintf(b, "budget     exceeded: %s\n", strings.Join(r.Beyond, "; "))
		}
	}
	smallest(b, r)
	unavailable(b, r)
	liveness(b, r)
	for _, l := range r.Leaks {
		fmt.Fprintf(b, "leak       %s has no time to live: nobody will ever remove it\n", l)
	}
	if r.Tier == scenarios.Live {
		fmt.Fprintf(b, "tier       live, %d grants, %d events\n", r.Report.Grants, len(r.History))
	} else {
		fmt.Fprintf(b, "tier       %s, seed %d, %d grants, %d events, %d steps\n", r.Tier, r.Seed, r.Report.Grants, len(r.History), r.Steps)
		fmt.Fprintf(b, "history    %s\n", r.HistoryHash)
		fmt.Fprintf(b, "trace      %s (run twice, the same both times)\n", r.TraceHash)
	}
	fmt.Fprintf(b, "repeat     %s\n", repeat)
	if text := r.Unlike(); text != "" {
		fmt.Fprintf(b, "recorded   %s\n", text)
	}
	if r.OK() {
		fmt.Fprintf(b, "\nas expected\n")
	}
	for _, p := range r.Problems {
		fmt.Fprintf(b, "\nNOT AS EXPECTED: %s\n", p.Text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// story writes the numbered lines; of a long story those around the witness, or the first.
func story(b *strings.Builder, r *scenarios.Result, full bool) {
	lines := Story(r.History)
	from, to := 0, len(lines)
	if !full && len(lines) > maxLines {
		to = maxLines
		if f := r.Witness(); f != nil && len(f.Seqs) > 0 {
			last := len(lines)
			for i, l := range lines {
				if l.Seq > f.Seqs[len(f.Seqs)-1] {
					last = i
					break
				}
			}
			to = min(last+3, len(lines))
			from = max(0, to-maxLines)
		}
	}
	skipped := func(n int) {
		if n > 0 {
			fmt.Fprintf(b, "           … %d more lines, shown with --full\n", n)
		}
	}
	skipped(from)
	for i := from; i < to; i++ {
		fmt.Fprintf(b, "%4d %s\n", i+1, lines[i])
	}
	skipped(len(lines) - to)
	if len(lines) == 0 {
		fmt.Fprintf(b, "     nothing happened\n")
	}
}

func witness(b *strings.Builder, h history.History, f *checker.Finding) {
	fmt.Fprintf(b, "witness    %s\n", f.Text)
	for _, win := range f.Windows {
		fmt.Fprintf(b, "           %s\n", window(h, win))
	}
	if f.Kind == checker.LeaseOverlap && len(f.Windows) == 2 {
		if f.ToSeq == 0 {
			fmt.Fprintf(b, "           overlap from %s, to the end of the run\n", at(f.From))
		} else {
			fmt.Fprintf(b, "           overlap from %s to %s: %v\n", at(f.From), at(f.To), f.To.Since(f.From))
		}
	}
}

func window(h history.History, w checker.Window) string {
	end := at(w.To)
	if w.ToSeq == 0 {
		end = "the end of the run"
	}
	why := "never ended"
	if w.ToSeq > 0 {
		why = Ended(&h[w.ToSeq-1])
	}
	return fmt.Sprintf("%-10s from %s to %s (%s)", w.Process, at(w.From), end, why)
}

// Ended says what ended a window, given the event that did.
func Ended(e *history.Event) string {
	switch {
	case e.Kind == history.Expire:
		return "its clock read the end of the lease"
	case e.Kind == history.Crash:
		return "it crashed"
	case e.Func == history.Release:
		return "it released"
	}
	return faults.EventName(e)
}

func at(i checker.Instant) string { return seconds(time.Duration(i)) }

func unavailable(b *strings.Builder, r *scenarios.Result) {
	if u := r.Scenario.Expect.Unavailable; u.Unbounded {
		lasts := "and no longer in a run twice as long"
		if r.Unbounded {
			lasts = "and for as much longer as the run is made, as expected"
		}
		fmt.Fprintf(b, "available  somebody asked in vain for %v, %s\n", round(r.Unavailable), lasts)
	} else {
		fmt.Fprintf(b, "available  somebody asked in vain for at most %v, expected at most %v\n", round(r.Unavailable), u.AtMost)
	}
}

// liveness says what clients had to wait for beyond that, where there is something to say.
func liveness(b *strings.Builder, r *scenarios.Result) {
	m, e := r.Measured(), &r.Scenario.Expect
	outcome := func(granted bool) string {
		if granted {
			return ""
		}
		return " in vain"
	}
	if t := m.Takeover; t.Process != "" {
		fmt.Fprintf(b, "takeover   %s was gone, and the lock was waited for%s for %v%s\n", t.Process, outcome(t.By != ""), round(t.For), expectedSpan(e.Takeover))
	}
	if w := m.AfterHealing; w.Process != "" {
		fmt.Fprintf(b, "healed     %s waited%s for %v%s\n", w.Process, outcome(w.Granted), round(w.For()), expectedSpan(e.AfterHealing))
	}
	if m.Bypass.Number > 0 || m.Attempts.Number > 1 || e.Attempts != nil || e.Bypass != nil || e.Overtakes != nil {
		fmt.Fprintf(b, "waiting    at most %s%s, bypassed by %s%s, overtaken %s%s; fairness of the grants %.2f\n",
			times(m.Attempts.Number, "attempt"), expectedCount(e.Attempts), times(m.Bypass.Number, "grant"), expectedCount(e.Bypass),
			times(m.Overtakes.Number, "time"), expectedCount(e.Overtakes), m.Fairness)
	}
}

func expectedSpan(bounds *scenarios.Bounds) string {
	if bounds == nil {
		return ""
	}
	return fmt.Sprintf(", expected at most %v", bounds.AtMost)
}

func expectedCount(bounds *scenarios.CountBounds) string {
	if bounds == nil {
		return ""
	}
	return fmt.Sprintf(" (expected at most %d)", bounds.AtMost)
}

func times(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// smallest says how little of each fault still breaks the lock.
func smallest(b *strings.Builder, r *scenarios.Result) {
	for _, s := range r.Smallest {
		confirmed := "also on the other tier"
		if !s.Confirmed {
			confirmed = "NOT CONFIRMED on the other tier"
		}
		fmt.Fprintf(b, "smallest   %s: %s of %v still breaks the lock, of %v it does not (%s)\n", s.Fault, s.Knob, s.Breaks, s.Holds, confirmed)
		if s.Why != "" {
			fmt.Fprintf(b, "           the formula gives %v: %s\n", s.Formula, s.Why)
		}
	}
}
