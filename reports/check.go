package reports

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"redlocksim/checker/foreign"
	"redlocksim/internal/plural"
	"redlocksim/internal/printable"
)

// Judged is a history of another's with what became of the attempt to judge it, and its JSON form.
type Judged struct {
	File string `json:"file"`
	// Verdict is good or bad; nil if the file could not be judged, and then Error says why, with the file and the line.
	Verdict *string `json:"verdict"`
	Error   *string `json:"error"`
	*foreign.Report
}

// NewJudged is what became of a file. There is a report, or an error.
func NewJudged(file string, r *foreign.Report, err error) Judged {
	if err != nil {
		why := err.Error()
		return Judged{File: file, Error: &why, Report: &foreign.Report{Findings: []foreign.Finding{}, Notes: []string{}}}
	}
	verdict := "good"
	if !r.Good() {
		verdict = "bad"
	}
	return Judged{File: file, Verdict: &verdict, Report: r}
}

// CheckJSON writes the results as one JSON object. Its ok says that every history was judged and is good.
func CheckJSON(w io.Writer, all []Judged) error {
	ok := !slices.ContainsFunc(all, func(j Judged) bool { return j.Error != nil || !j.Good() })
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"files": all, "ok": ok})
}

// maxTold is how many findings a text tells; JSON has more.
const maxTold = 10

// Check writes what was found in one history that could be judged, as text.
func Check(w io.Writer, r *Judged) error {
	b := &strings.Builder{}
	file := printable.Line(r.File)
	if r.Good() {
		fmt.Fprintf(b, "%s: good\n", file)
	} else {
		fmt.Fprintf(b, "%s: BAD\n", file)
	}
	for i, f := range r.Findings {
		if i == maxTold {
			fmt.Fprintf(b, "  … %d more findings, shown with --json\n", r.Broken-maxTold)
			break
		}
		fmt.Fprintf(b, "  %s: %s\n", f.Kind.Says(), printable.Line(f.Text))
		for _, op := range f.Operations {
			fmt.Fprintf(b, "    %s\n", operation(file, op))
		}
		if f.Count > 1 {
			fmt.Fprintf(b, "    the first of %d\n", f.Count)
		}
	}
	how := string(r.Model)
	switch {
	case r.Longest > r.Shortest:
		how = fmt.Sprintf("%s with leases of %v to %v", r.Model, r.Shortest, r.Longest)
	case r.Longest > 0 && r.Model == foreign.Lease:
		how = fmt.Sprintf("lease of %v", r.Longest)
	case r.Longest > 0:
		how = fmt.Sprintf("%s with leases of %v", r.Model, r.Longest)
	}
	if r.ClockError > 0 {
		how += fmt.Sprintf(", with clocks up to %v apart", r.ClockError)
	}
	fmt.Fprintf(b, "  checked    as %s: %s by %s on %s, %s, %d of unknown outcome\n", how,
		plural.Count(r.Operations, "operation"), plural.Count(r.Processes, "process"), plural.Count(r.Locks, "lock"), plural.Count(r.Grants, "grant"), r.Unknown)
	fmt.Fprintf(b, "  read       %s as %s, %d of them by the nemesis", plural.Count(r.Lines, "line"), r.Format, r.Nemesis)
	if r.LeftOut > 0 {
		fmt.Fprintf(b, ", %d left out", r.LeftOut)
	}
	if r.Moved > 0 {
		fmt.Fprintf(b, "; %d stood after a later one and were moved", r.Moved)
	}
	fmt.Fprintln(b)
	for _, n := range r.Notes {
		fmt.Fprintf(b, "  note       %s\n", printable.Line(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// operation is an operation with the lines it stands on, FILE:LINE first so that editors can jump there.
func operation(file string, op foreign.Operation) string {
	var b strings.Builder
	if op.File != "" {
		file = printable.Line(op.File)
	}
	fmt.Fprintf(&b, "%s:%d: process %s %s", file, op.Call, printable.Line(op.Process), op.Func)
	if op.Return != nil {
		fmt.Fprintf(&b, ", %s on line %d", op.Outcome, *op.Return)
	}
	switch {
	case op.CallIndex != nil && op.ReturnIndex != nil:
		fmt.Fprintf(&b, " (indexes %d and %d)", *op.CallIndex, *op.ReturnIndex)
	case op.CallIndex != nil:
		fmt.Fprintf(&b, " (index %d)", *op.CallIndex)
	}
	if op.Token != nil {
		fmt.Fprintf(&b, ", token %d", *op.Token)
	}
	return b.String()
}
