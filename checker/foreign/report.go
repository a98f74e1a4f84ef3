package foreign

import (
	"time"

	"redlocksim/checker"
)

// Operation is one operation as it stands in the file.
type Operation struct {
	File    string // of several that are judged as one; empty otherwise
	Process string
	Func    string // acquire, extend or release; of a Native history also read, write, expire, crash
	// Call and Return are lines. Return is 0 if nothing was recorded.
	Call, Return int
	// CallIndex and ReturnIndex are the indexes that these lines have in the file, nil if they have none.
	CallIndex, ReturnIndex *int64
	// Outcome is ok, fail or unknown.
	Outcome string
	// Token is that of a successful acquire of a fenced lock; nil if there is none.
	Token *int64
}

// Finding is a rule that the history breaks on a lock, shown on the first place where it does.
type Finding struct {
	Kind checker.Kind
	Lock string // empty if locks have no names
	// Count is how often it is broken on this lock.
	Count int
	// Operations are the two that conflict, in the order in which they began; one only, where there is no other to
	// name.
	Operations []Operation
	// Text says it in one sentence.
	Text string
}

// maxFindings bounds what is listed; all are counted.
const maxFindings = 100

// Report is what a history shows.
type Report struct {
	Format Format
	Model  Model         // empty for a Native history that was judged by its own windows
	Lease  time.Duration // what the options gave
	// Shortest and Longest are the lengths of the operations' leases; 0 if they have none.
	Shortest, Longest time.Duration
	// ClockError is how far clocks were allowed to differ.
	ClockError time.Duration
	// Findings are the violations, in the order of the locks' first operations, at most one for a kind and lock, and
	// at most 100. Broken counts all of them.
	Findings []Finding
	Broken   int
	// Lines is how many lines were read.
	Lines int
	// Operations were called, on Locks by Processes. Of them Grants are acquires that succeeded, Unknown those without
	// a known outcome. Nemesis counts the lines of the nemesis, which are skipped.
	Operations, Locks, Processes, Grants, Unknown, Nemesis int
	// LeftOut counts the lines that Options.Keys and Only pass over, Moved those that Options.Sort found after a later one.
	LeftOut, Moved int
	// Confirmed is how many locks of a Native history were judged a second time, by porcupine, and found the same.
	// Unconfirmed says why the others were not.
	Confirmed   int
	Unconfirmed string
	// Notes are observations that a reader should have, though they are no violations.
	Notes []string
	late  int // grants whose leases were over when they were reported
}

// Good reports whether the history shows no violation.
func (r *Report) Good() bool { return r.Broken == 0 }

func (r *Report) add(f Finding) {
	r.Broken++
	if len(r.Findings) < maxFindings {
		r.Findings = append(r.Findings, f)
	}
}
