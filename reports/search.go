package reports

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"redlocksim/search"
)

// SearchProgress is a line about a search under way that has taken a while so far.
func SearchProgress(s *search.Summary, took time.Duration) string {
	text := fmt.Sprintf("%d runs, %s, %d grants, %d orders", s.Runs, speed(s, took), s.Grants, s.Orders)
	if s.Narrowest != nil {
		text += fmt.Sprintf(", smallest margin %v", s.Narrowest.Slack().Round(time.Microsecond))
	}
	return text + fmt.Sprintf(", %d findings", len(s.Findings))
}

func speed(s *search.Summary, took time.Duration) string {
	seconds := max(took.Seconds(), 1e-9)
	return fmt.Sprintf("%.0f runs/s, %.0f virtual s/s", float64(s.Runs)/seconds, s.Virtual.Seconds()/seconds)
}

// Search writes what a search has done and found. dir is where the files of its findings are, and took how long it took;
// zero if that is not known.
func Search(w io.Writer, s *search.Summary, dir string, took time.Duration) error {
	var b strings.Builder
	line := func(word, format string, args ...any) {
		fmt.Fprintf(&b, "%-11s%s\n", word, fmt.Sprintf(format, args...))
	}
	runs := fmt.Sprintf("%d of %v in all", s.Runs, s.Virtual)
	if took > 0 {
		runs += ", " + speed(s, took)
	}
	line("runs", "%s", runs)
	line("grants", "%d, %d a run", s.Grants, s.Grants/max(s.Runs, 1))
	line("orders", "about %d distinct orders of what concerns the lock", s.Orders)
	line("idle", "%d runs without contention, which say nothing", s.Vacuous)
	beyond := fmt.Sprintf("%d runs exceeded the budget", s.Beyond)
	if s.BeyondViolations > 0 {
		beyond += fmt.Sprintf("; their %d violations do not count", s.BeyondViolations)
	}
	line("beyond", "%s", beyond)
	if n := s.Narrowest; n != nil {
		line("margin", "%v was the smallest: the lease of %s ran out at %v, seed %d", n.Slack(), n.Client, n.Expiry, n.Candidate.Seed)
	}
	line("self-check", "%d runs made again were the same; a lock with a planted bug was caught %d times", s.Repeated, s.Canaries)
	if s.Unshrunk > 0 {
		line("left aside", "%d violations for which there was no time", s.Unshrunk)
	}
	b.WriteByte('\n')
	for i := range s.Findings {
		f := &s.Findings[i]
		fmt.Fprintf(&b, "%3d  %s\n", i+1, finding(f))
		if f.File != "" {
			fmt.Fprintf(&b, "     redlocksim run %s\n", filepath.Join(dir, f.File))
		}
	}
	switch {
	case s.Violations > 0:
		fmt.Fprintf(&b, "\n%d runs broke the lock, in %d ways\n", s.Violations, len(s.Findings))
	case s.Runs > 0:
		b.WriteString("no violation found\n")
	default:
		b.WriteString("nothing was run\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// finding is a line about a finding.
func finding(f *search.Finding) string {
	text := string(f.Kind)
	switch {
	case f.Faults == 0:
		text += " without any fault"
	case f.Faults == 1:
		text += " by " + f.Families[0]
	default:
		text += fmt.Sprintf(" by %d faults: %s", f.Faults, strings.Join(f.Families, ", "))
	}
	if f.Beyond {
		text += ", beyond the budget"
	} else {
		text += ", WITHIN the budget"
	}
	return text + fmt.Sprintf(" (run %d; like it: %d)", f.Run, f.Times)
}
