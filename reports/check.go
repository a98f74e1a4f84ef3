package reports

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"redlocksim/checker/foreign"
	"redlocksim/internal/plural"
	"redlocksim/internal/printable"
)

// Judged is a history of another's with what became of the attempt to judge it: a report, or an error.
type Judged struct {
	File   string
	Report *foreign.Report
	Err    error // with the file and the line
}

// Checked is the JSON form of what check found in some files.
type Checked struct {
	Files []CheckedFile `json:"files"`
	// OK says that every history was judged and is good.
	OK bool `json:"ok"`
}

// CheckedFile is the JSON form of one history. Verdict is good or bad; null if the file could not be judged, and then
// Error says why, and nothing else is known.
type CheckedFile struct {
	File     string           `json:"file"`
	Verdict  *string          `json:"verdict"`
	Error    *string          `json:"error"`
	Findings []CheckedFinding `json:"findings"` // at most 100
	Broken   int              `json:"broken"`   // how many there are
	Checked  *CheckedCounts   `json:"checked"`
	Notes    []string         `json:"notes"`
}

// CheckedFinding is the JSON form of a rule that is broken.
type CheckedFinding struct {
	Kind       string             `json:"kind"`
	Lock       string             `json:"lock"`
	Count      int                `json:"count"`
	Text       string             `json:"text"`
	Operations []CheckedOperation `json:"operations"`
}

// CheckedOperation is the JSON form of an operation; its lines are those of the file, null where there is none.
type CheckedOperation struct {
	// File is the one it stands in, of several that were merged.
	File       string `json:"file,omitempty"`
	Process    string `json:"process"`
	Func       string `json:"f"`
	Outcome    string `json:"outcome"`
	CallLine   int    `json:"call_line"`
	ReturnLine *int   `json:"return_line"`
	// The indexes that the lines say themselves.
	CallIndex   *int64 `json:"call_index"`
	ReturnIndex *int64 `json:"return_index"`
	Token       *int64 `json:"token"`
}

// CheckedCounts is the JSON form of what was checked.
type CheckedCounts struct {
	Format       string `json:"format"`
	Model        string `json:"model"`
	LeaseNS      int64  `json:"lease_ns"`
	ClockErrorNS int64  `json:"clock_error_ns"`
	Lines        int    `json:"lines"`
	Operations   int    `json:"operations"`
	Grants       int    `json:"grants"`
	Unknown      int    `json:"unknown"`
	Processes    int    `json:"processes"`
	Locks        int    `json:"locks"`
	Nemesis      int    `json:"nemesis_lines"`
	LeftOut      int    `json:"left_out_lines"`
	Moved        int    `json:"moved_lines"`
	// Porcupine judges the program's own histories, too; of others this is 0, and the reason empty.
	CheckedTwice   int    `json:"locks_checked_twice"`
	WhyNotAllTwice string `json:"why_not_all_twice"`
}

// CheckJSON writes the results as one JSON object.
func CheckJSON(w io.Writer, all []Judged) error {
	doc := Checked{Files: []CheckedFile{}, OK: true}
	for _, j := range all {
		doc.OK = doc.OK && j.Err == nil && j.Report.Good()
		doc.Files = append(doc.Files, checkedFile(j))
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}

func checkedFile(j Judged) CheckedFile {
	f := CheckedFile{File: j.File, Findings: []CheckedFinding{}, Notes: []string{}}
	if j.Err != nil {
		text := j.Err.Error()
		f.Error = &text
		return f
	}
	r := j.Report
	verdict := "good"
	if !r.Good() {
		verdict = "bad"
	}
	f.Verdict, f.Broken = &verdict, r.Broken
	f.Notes = append(f.Notes, r.Notes...)
	for _, found := range r.Findings {
		c := CheckedFinding{Kind: string(found.Kind), Lock: found.Lock, Count: found.Count, Text: found.Text,
			Operations: []CheckedOperation{}}
		for _, op := range found.Operations {
			o := CheckedOperation{File: op.File, Process: op.Process, Func: op.Func, Outcome: op.Outcome, CallLine: op.Call, Token: op.Token,
				CallIndex: op.CallIndex, ReturnIndex: op.ReturnIndex}
			if op.Return > 0 {
				o.ReturnLine = &op.Return
			}
			c.Operations = append(c.Operations, o)
		}
		f.Findings = append(f.Findings, c)
	}
	f.Checked = &CheckedCounts{Format: string(r.Format), Model: string(r.Model), LeaseNS: int64(r.Lease), ClockErrorNS: int64(r.ClockError), Lines: r.Lines, Operations: r.Operations, Grants: r.Grants, Unknown: r.Unknown,
		Processes: r.Processes, Locks: r.Locks, Nemesis: r.Nemesis, LeftOut: r.LeftOut, Moved: r.Moved, CheckedTwice: r.Confirmed, WhyNotAllTwice: r.Unconfirmed}
	return f
}

// maxTold is how many findings a text tells; JSON has more.
const maxTold = 10

// Check writes what was found in one history, as text. What could not be judged is not its business.
func Check(w io.Writer, file string, r *foreign.Report) error {
	b := &strings.Builder{}
	file = printable.Line(file)
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
	case r.Format == foreign.Native && how == "":
		how = "the leases recorded in it"
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
	switch {
	case r.Format != foreign.Native:
	case r.Unconfirmed == "":
		fmt.Fprintf(b, "  confirmed  hold intervals and porcupine agree\n")
	default:
		fmt.Fprintf(b, "  once only  %d of %s by hold intervals alone: %s\n", r.Locks-r.Confirmed, plural.Count(r.Locks, "lock"), printable.Line(r.Unconfirmed))
	}
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
	if op.Return > 0 {
		fmt.Fprintf(&b, ", %s on line %d", op.Outcome, op.Return)
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
