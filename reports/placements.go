package reports

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"redlocksim/internal/plural"
	"redlocksim/internal/shell"
	"redlocksim/search/systematic"
)

// Placements writes what a systematic search has done and found, with this seed. dir is where the files of its findings are.
func Placements(w io.Writer, s *systematic.Summary, dir string, seed uint64) error {
	b := &strings.Builder{}
	labelled(b, "moments", "%d", s.Moments)
	labelled(b, "faults", "%d", s.Faults)
	labelledText(b, "base", "%v", s.Base)
	p := &s.Placements
	labelledText(b, "placements", "%v; %d made a difference", p, p.Different)
	if n := p.NotTested; n.Sum() > 0 {
		failed := ""
		if n.Failed > 0 {
			failed = fmt.Sprintf(", %d that failed", n.Failed)
		}
		labelledText(b, "", "%d not tested: %d whose fault had nothing to take effect on, %d in which too little happened%s", n.Sum(), n.NotInjected, n.Idle, failed)
	}
	labelledText(b, "", "%s within the budget, %d beyond it", plural.Count(int(p.Violations), "violation"), p.Beyond)
	if err := s.Tally.Write(b); err != nil {
		return err
	}
	if len(s.Findings)+s.Unshrunk == 0 {
		labelled(b, "findings", "none")
	}
	for i, f := range s.Findings {
		with := strings.Join(f.Families, ", ")
		if with == "" {
			with = "no fault"
		}
		where := "within the budget"
		switch {
		case f.Beyond:
			where = "beyond the budget"
		case f.Despite:
			where = "beyond the budget, which is no excuse for it"
		}
		labelledText(b, fmt.Sprintf("finding %d", i+1), "%s, with %s, %s, %s", f.Kind.Says(), with, where, plural.Count(f.Times, "time"))
		labelled(b, "", "%s", shrunk(&f))
		if f.File != "" {
			labelled(b, "", "redlocksim run %s --seed %d", shell.Quote(filepath.Join(dir, f.File)), seed)
		}
	}
	if s.Unshrunk > 0 {
		labelled(b, "not shrunk", "%s of violation more", plural.Count(s.Unshrunk, "kind"))
	}
	b.WriteString(s.Failures.Text(dir, ""))
	_, err := io.WriteString(w, b.String())
	return err
}
