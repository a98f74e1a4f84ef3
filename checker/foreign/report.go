package foreign

import (
	"time"

	"redlocksim/checker"
)

// Operation is one operation as it stands in the file.
type Operation struct {
	// File is the one it stands in, of several; empty otherwise.
	File    string `json:"file,omitempty"`
	Process string `json:"process"`
	Func    string `json:"f"`       // acquire, extend, release or write
	Outcome string `json:"outcome"` // ok, fail or unknown
	// Call and Return are lines, Return nil if nothing was recorded, and their indexes those that these lines have in the file,
	// nil if they have none.
	Call        int    `json:"call_line"`
	Return      *int   `json:"return_line"`
	CallIndex   *int64 `json:"call_index"`
	ReturnIndex *int64 `json:"return_index"`
	// Token is that of a successful acquire of a fenced lock, or of a write; nil if there is none.
	Token *int64 `json:"token"`
}

// Finding is a rule that the history breaks on a lock, shown on the first place where it does.
type Finding struct {
	Kind  checker.Kind `json:"kind"`
	Lock  string       `json:"lock"`  // empty if locks have no names
	Count int          `json:"count"` // how often it is broken on this lock
	Text  string       `json:"text"`  // says it in one sentence
	// Operations are the two that conflict, in the order in which they began, and the others that held a semaphore; one only,
	// where there is no other to name.
	Operations []Operation `json:"operations"`
}

// maxFindings bounds what is listed; all are counted.
const maxFindings = 100

// Report is what a history shows, and its JSON form.
type Report struct {
	// Findings are the violations, in the order of the locks' first operations, at most one for a kind and lock, and
	// at most 100. Broken counts all of them.
	Findings []Finding `json:"findings"`
	Broken   int       `json:"broken"`
	*Counts  `json:"checked"`
	// Notes are observations that a reader should have, though they are no violations.
	Notes []string `json:"notes"`
	late  int      // grants whose leases were over when they were reported
}

// Counts is what was judged.
type Counts struct {
	Format Format        `json:"format"`
	Model  Model         `json:"model"`
	Lease  time.Duration `json:"lease_ns"` // what the options gave
	// Shortest and Longest are the lengths of the operations' leases; 0 if they have none.
	Shortest, Longest time.Duration `json:"-"`
	// ClockError is how far clocks were allowed to differ.
	ClockError time.Duration `json:"clock_error_ns"`
	Lines      int           `json:"lines"` // that were read
	// Operations were called, on Locks by Processes. Of them Grants are acquires that succeeded, Unknown those without
	// a known outcome. Nemesis counts the lines of the nemesis, which are skipped.
	Operations int `json:"operations"`
	Grants     int `json:"grants"`
	Unknown    int `json:"unknown"`
	Processes  int `json:"processes"`
	Locks      int `json:"locks"`
	Nemesis    int `json:"nemesis_lines"`
	// LeftOut counts the lines that Options.Keys and Only pass over, Moved those that Options.Sort found after a later one.
	LeftOut int `json:"left_out_lines"`
	Moved   int `json:"moved_lines"`
}

// Good reports whether the history shows no violation.
func (r *Report) Good() bool { return r.Broken == 0 }

func (r *Report) add(f Finding) {
	r.Broken++
	if len(r.Findings) < maxFindings {
		r.Findings = append(r.Findings, f)
	}
}
