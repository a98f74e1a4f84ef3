package reports

import (
	"fmt"
	"io"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/plural"
	"redlocksim/internal/rounded"
	"redlocksim/internal/wordwrap"
	"redlocksim/reports/story"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/search/settings"
	"redlocksim/sim/history"
)

// maxLines is how much of a story is told without --full; the rest is counted.
const maxLines = 60

// labelled writes a line of a report: a word, and what there is to say of it. Without a word it goes on with the line above.
func labelled(b *strings.Builder, word, format string, args ...any) {
	fmt.Fprintf(b, "%-10s %s\n", word, fmt.Sprintf(format, args...))
}

// labelledText writes text behind a word, in lines that fit a terminal.
func labelledText(b *strings.Builder, word, format string, args ...any) {
	b.WriteString(wordwrap.Help(fmt.Sprintf("%-10s", word), strings.Repeat(" ", 11), fmt.Sprintf(format, args...)))
}

// Run writes the report of one run: the story, the verdict, the windows that overlap, and how to repeat it.
func Run(w io.Writer, r *verdict.Result, repeat string, full bool) error {
	b := &strings.Builder{}
	run(b, r, repeat, full, true)
	if r.OK() {
		fmt.Fprintf(b, "\n%s\n", r.Headline())
	}
	for _, p := range r.Problems {
		fmt.Fprintf(b, "\nNOT AS EXPECTED: %s\n", p.Text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Attack writes the report of a run that was made to break the lock: what comes of it is in outcome, and nothing was expected.
func Attack(w io.Writer, r *verdict.Result, repeat, outcome string) error {
	b := &strings.Builder{}
	run(b, r, repeat, false, false)
	fmt.Fprintf(b, "\n%s\n", outcome)
	_, err := io.WriteString(w, b.String())
	return err
}

// run writes what the reports of all runs have. isExpected says that something was expected of it.
func run(b *strings.Builder, r *verdict.Result, repeat string, full, isExpected bool) {
	s := r.Scenario
	fmt.Fprintf(b, "%s: %s\n", s.Name, s.Title)
	fmt.Fprintf(b, "  %s\n\n", s.Source)
	if r.Lost() { // the run is lost
		labelled(b, "verdict", "%s", r.Verdict())
		labelled(b, "repeat", "%s", repeat)
		return
	}
	numbered(b, r, full)

	fmt.Fprintln(b)
	labelled(b, "verdict", "%s", r.Says())
	isBesideRedlock := r.Grades() != nil && r.Scenario.Theme != scenarios.Own
	if isExpected && !r.OK() && !isBesideRedlock {
		labelled(b, "expected", "%s", r.Scenario.Says())
	}
	if f := r.Defect(); f != nil {
		witness(b, r.History, f)
		causes(b, r, f)
	}
	smallest(b, r)
	unavailable(b, r, isExpected)
	liveness(b, r)
	for _, l := range r.Leaks {
		labelled(b, "leak", "%s has no time to live: nobody will ever remove it", l)
	}
	identity(b, r)
	labelled(b, "repeat", "%s", repeat)
	if text := r.Unlike(); text != "" {
		labelled(b, "recorded", "%s", text)
	}
}

// identity says which run it was.
func identity(b *strings.Builder, r *verdict.Result) {
	if r.Tier == scenarios.Live {
		labelled(b, "tier", "live, %d grants, %d events", r.Report.Grants, len(r.History))
		return
	}
	labelled(b, "tier", "%s, seed %d, %d grants, %d events, %d steps", r.Tier, r.Seed, r.Report.Grants, len(r.History), r.Steps)
	labelled(b, "history", "%s", r.HistoryHash)
	labelled(b, "trace", "%s (two runs, identical)", r.TraceHash)
}

// numbered writes the story in numbered lines; of a long one those up to the witness, or the first.
func numbered(b *strings.Builder, r *verdict.Result, full bool) {
	lines := story.Of(r.History, r.Monitored...)
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
	labelled(b, "witness", "%s", rounded.Text(f.Text))
	for _, win := range f.Windows {
		labelled(b, "", "%s", window(h, win))
	}
	if f.Kind == checker.LeaseOverlap && len(f.Windows) == 2 {
		if f.ToSeq == 0 {
			labelled(b, "", "overlap from %s to the end of the run", at(f.From))
		} else {
			labelled(b, "", "overlap from %s to %s: %v", at(f.From), at(f.To), rounded.Duration(f.To.Since(f.From)))
		}
	}
}

// maxCauses is how many faults are listed with a witness: the last ones before it.
const maxCauses = 5

// causes lists the faults that were injected before what a witness shows, and says whether they exceed the budget.
func causes(b *strings.Builder, r *verdict.Result, f *checker.Finding) {
	var before []string
	for i := range r.History {
		e := &r.History[i]
		what := ""
		switch e.Kind {
		case history.Fault:
			what = rounded.Text(e.Detail)
		case history.Crash:
			what = e.Process + " crashes"
		}
		if what != "" && len(f.Seqs) > 0 && e.Seq < f.Seqs[len(f.Seqs)-1] {
			before = append(before, at(checker.Instant(e.Time))+": "+what)
		}
	}
	word := "faults"
	if more := len(before) - maxCauses; more > 0 {
		labelled(b, word, "%d earlier ones, and", more)
		word, before = "", before[more:]
	}
	for _, line := range before {
		labelled(b, word, "%s", line)
		word = ""
	}
	switch {
	case r.Beyond == nil:
		labelledText(b, "budget", "kept: %s", rounded.Text(settings.Blame(r, f)))
	case r.Excused(f.Kind):
		labelled(b, "budget", "exceeded: %s", rounded.Text(strings.Join(r.Beyond, "; ")))
	default:
		labelledText(b, "budget", "exceeded, which is no excuse for it (%s): %s", rounded.Text(strings.Join(r.Beyond, "; ")), rounded.Text(settings.Blame(r, f)))
	}
}

func window(h history.History, w checker.Window) string {
	end := at(w.To)
	if w.ToSeq == 0 {
		end = "the end of the run"
	}
	why := "never ended"
	if w.ToSeq > 0 {
		why = story.Ended(&h[w.ToSeq-1])
	}
	return fmt.Sprintf("%-10s from %s to %s (%s)", w.Process, at(w.From), end, why)
}

func at(i checker.Instant) string { return story.Seconds(time.Duration(i)) }

func unavailable(b *strings.Builder, r *verdict.Result, isExpected bool) {
	u, longest := r.Scenario.Expect.Unavailable, rounded.Duration(r.Unavailable)
	switch {
	case !isExpected:
		labelled(b, "available", "clients asked for at most %v for a lock that nobody was using", longest)
	case r.Grades() != nil && !r.IsExpected():
		labelled(b, "available", "clients asked for at most %v for a lock that nobody was using (a sound Redlock: %v)", longest, rounded.Duration(r.Sound))
	case !u.Unbounded:
		labelled(b, "available", "clients asked for at most %v for a lock that nobody was using (expected: at most %v)", longest, rounded.Duration(u.AtMost))
	case r.Unbounded:
		labelled(b, "available", "clients asked for %v for a lock that nobody was using, and for longer in a longer run, as expected", longest)
	default:
		labelled(b, "available", "clients asked for %v for a lock that nobody was using, and for no longer in a run twice as long", longest)
	}
}

// liveness says what clients had to wait for beyond that, where there is something to say.
func liveness(b *strings.Builder, r *verdict.Result) {
	m, e := r.Measured(), &r.Scenario.Expect
	if r.Grades() != nil { // somebody's lock waits in its own way, and reports no attempts
		m.Attempts, e = checker.Count{}, &scenarios.Expect{}
	}
	outcome := func(granted bool) string {
		if granted {
			return ""
		}
		return " in vain"
	}
	if t := m.Takeover; t.Process != "" {
		labelled(b, "takeover", "once %s was gone, others waited%s for %v%s", t.Process, outcome(t.By != ""), rounded.Duration(t.For), expectedSpan(e.Takeover))
	}
	if w := m.AfterHealing; w.Process != "" {
		labelled(b, "healed", "then %s waited%s for %v%s", w.Process, outcome(w.Granted), rounded.Duration(w.For()), expectedSpan(e.AfterHealing))
	}
	if m.Bypass.Number > 0 || m.Attempts.Number > 1 || e.Attempts != nil || e.Bypass != nil || e.Overtakes != nil {
		attempts := ""
		if m.Attempts.Number > 0 {
			attempts = fmt.Sprintf("at most %s%s; ", plural.Count(m.Attempts.Number, "attempt"), expectedCount(e.Attempts))
		}
		labelled(b, "waiting", "%sbypassed by %s%s, overtaken %s%s; fairness %.2f",
			attempts, plural.Count(m.Bypass.Number, "grant"), expectedCount(e.Bypass),
			plural.Count(m.Overtakes.Number, "time"), expectedCount(e.Overtakes), m.Fairness)
	}
}

func expectedSpan(bounds *scenarios.Bounds) string {
	if bounds == nil {
		return ""
	}
	return fmt.Sprintf(" (expected: at most %v)", bounds.AtMost)
}

func expectedCount(bounds *scenarios.CountBounds) string {
	if bounds == nil {
		return ""
	}
	return fmt.Sprintf(" (expected: at most %d)", bounds.AtMost)
}

// smallest says how little of each fault still breaks the lock.
func smallest(b *strings.Builder, r *verdict.Result) {
	for _, s := range r.Smallest {
		confirmed := " (confirmed on the other tier)"
		switch {
		case r.Tier == scenarios.Program:
			confirmed = ""
		case !s.Confirmed:
			confirmed = " (NOT CONFIRMED on the other tier)"
		}
		labelled(b, "smallest", "%s: the lock breaks if %s is %v, and holds if it is %v%s", s.Fault, s.Knob, s.Breaks, s.Holds, confirmed)
	}
}
