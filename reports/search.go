package reports

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"redlocksim/internal/plural"
	"redlocksim/internal/rounded"
	"redlocksim/internal/shell"
	"redlocksim/internal/wordwrap"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/random"
)

// SearchProgress is a line about a search under way, of whose runs some were made before it was resumed and the others took
// a while: with the runs a second, and how many times faster than real time that is.
func SearchProgress(s *random.Summary, before int, took time.Duration) string {
	runs := float64(s.Runs-before) / max(took.Seconds(), 1e-9)
	times := runs * s.Virtual.Seconds() / float64(max(s.Runs, 1))
	return fmt.Sprintf("%d runs, %.0f/s, %.0f× real time, %d grants, %d found", s.Runs, runs, times, s.Grants, len(s.Findings))
}

// Searched is a search that has been made.
type Searched struct {
	*random.Summary
	// Dir is where the files of its findings are.
	Dir  string
	Seed uint64
	Took time.Duration
	// Foreign is somebody's lock in the place of the library, nil if there is none, and With is what commands add that have it.
	Foreign *scenarios.Foreign
	With    string
}

// Search writes what a search has done and found.
func Search(w io.Writer, s *Searched) error {
	var b strings.Builder
	line := func(word, format string, args ...any) { labelledText(&b, word, format, args...) }
	line("runs", "%d, %v of simulated time", s.Runs, s.Virtual)
	if s.Worst > 0 {
		line("worst", "the first %d are the worst schedules that the budget allows", s.Worst)
	}
	line("grants", "%d, %d a run", s.Grants, s.Grants/max(s.Runs, 1))
	line("not tested", "%s without contention, which show nothing", plural.Count(s.NotTested, "run"))
	beyond := fmt.Sprintf("%s exceeded the budget", plural.Count(s.Beyond, "run"))
	if s.BeyondViolations > 0 {
		beyond += fmt.Sprintf("; %d of them broke the lock, which does not count", s.BeyondViolations)
	}
	line("beyond", "%s", beyond)
	onWire := fmt.Sprintf(" and %s came out the same on tier wire", plural.Count(s.OnWire, "run"))
	if s.Foreign != nil { // which none is made on
		onWire = ""
	}
	line("self-check", "%s repeated identically%s; the known-broken lock was caught %s", plural.Count(s.Repeated, "run"), onWire, plural.Count(s.Canaries, "time"))
	if s.Foreign == nil { // of whose steps nobody knows
		if err := s.Tally.Write(&b); err != nil {
			return err
		}
	}
	if s.Unshrunk > 0 {
		line("not shrunk", "%s: too many waited for it, or a run on the way failed", plural.Count(s.Unshrunk, "violation"))
	}
	b.WriteByte('\n')
	for i := range s.Findings {
		f := &s.Findings[i]
		b.WriteString(wordwrap.Help(fmt.Sprintf("%3d ", i+1), "     ", finding(f)))
		fmt.Fprintf(&b, "     %s\n", shrunk(f))
		if f.File != "" {
			fmt.Fprintf(&b, "     redlocksim run %s\n", shell.Quote(filepath.Join(s.Dir, f.File))+s.With)
		}
	}
	b.WriteString(s.Failures.Text(s.Dir, s.With))
	switch {
	case s.Violations > 0:
		fmt.Fprintf(&b, "\n%s broke the lock, in %s\n", plural.Count(s.Violations, "run"), plural.Count(len(s.Findings), "way"))
	case s.Unfinished > 0:
		fmt.Fprintf(&b, "\n%s of the unfinished generation broke the lock\n", plural.Count(s.Unfinished, "run"))
	case s.Runs > 0:
		b.WriteString("no violation found\n")
	default:
		b.WriteString("nothing was run\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// shrunk says how much of the run in which it was found is left of a finding.
func shrunk(f *search.Finding) string {
	return fmt.Sprintf("shrunk from %s to %d", plural.Count(f.EventsBefore, "event"), f.Events)
}

// finding is a line about a finding.
func finding(f *search.Finding) string {
	text := f.Kind.Says()
	with := ""
	if len(f.Settings) > 0 {
		with = ", with other settings: " + strings.Join(f.Settings, ", ")
	}
	switch {
	case f.Faults == 0:
		text += " without any fault"
	case f.Faults == 1:
		text += " by " + f.Families[0]
	default:
		text += fmt.Sprintf(" by %d faults: %s", f.Faults, strings.Join(f.Families, ", "))
	}
	text += with
	switch {
	case f.Beyond:
		text += ", beyond the budget"
	case f.Despite:
		text += ", beyond the budget, which is NO EXCUSE for it"
	default:
		text += ", WITHIN the budget"
	}
	text += fmt.Sprintf(" (first in run %d, %s in all)", f.Run, plural.Count(f.Times, "run"))
	if f.Blame != "" {
		text += ": " + rounded.Text(f.Blame)
	}
	return text
}
