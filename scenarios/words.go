package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"redlocksim/checker"
	"redlocksim/internal/rounded"
)

// Told is a verdict for people.
type Told struct {
	Findings Findings
	// Leaks are the keys without a time to live.
	Leaks []string
	// IsStuck: nobody is granted the lock any more, for as long as anybody looks.
	IsStuck bool
	// IsUntested: what was to be tested did not take place.
	IsUntested bool
	// Besides is what there is to say beside the words, as how long the lock could not be had; empty if there is nothing.
	Besides string
}

// is says that the verdict has a word, and what stands behind it.
func (t Told) is(w checker.Word) (has bool, behind string) {
	var kinds []string
	for _, k := range t.Findings {
		if k.Word() == w {
			kinds = append(kinds, string(k))
		}
	}
	if kinds != nil {
		behind = " (" + strings.Join(kinds, ", ") + ")"
	}
	switch {
	case w == checker.Stuck && t.IsStuck:
		return true, behind
	case w == checker.Leaks && len(t.Leaks) > 0:
		return true, " " + strings.Join(t.Leaks, " and ") + behind
	case w == checker.Untested:
		return t.IsUntested, ""
	}
	return kinds != nil, behind
}

func (t Told) String() string {
	var all []string
	for _, w := range checker.Words() {
		has, behind := t.is(w)
		switch {
		case w == checker.Holds && all == nil:
			all = append(all, string(w)+behind)
		case w == checker.Holds && has: // an observation beside something worse
			all = append(all, strings.Trim(behind, " ()"))
		case has:
			all = append(all, string(w)+behind)
		}
	}
	if t.Besides != "" {
		all = append(all, t.Besides)
	}
	return strings.Join(all, ", ")
}

// breaks is the word for a lock of which two clients can make use at once, or that does not keep a promise.
const breaks = "breaks"

// Worst is the first of its words.
func (t Told) Worst() checker.Word {
	for _, w := range checker.Words() {
		if has, _ := t.is(w); has {
			return w
		}
	}
	return checker.Holds
}

// InOne is the verdict in one word.
func (t Told) InOne() string {
	switch w := t.Worst(); w {
	case checker.TwoHolders, checker.LateWrite, checker.BreaksPromise:
		return breaks
	default:
		return string(w)
	}
}

// Says is what the findings come to, for people.
func (f Findings) Says() string { return Told{Findings: f}.String() }

// Says is the verdict that the file expects, for people.
func (s *Scenario) Says() string { return s.told().String() }

// InOne is that verdict in one word: holds, breaks, stuck or leaks.
func (s *Scenario) InOne() string { return s.told().InOne() }

func (s *Scenario) told() Told {
	e := &s.Expect
	u := e.Unavailable
	t := Told{Findings: e.Findings, Leaks: e.Leaks, IsStuck: s.Sticks() || u.IsTheSubject() && len(e.Leaks) > 0}
	if least, most := rounded.Duration(u.AtLeast), rounded.Duration(u.AtMost); u.AtLeast > 0 {
		t.Besides = fmt.Sprintf("unavailable for %v", least)
		if least != most {
			t.Besides += fmt.Sprintf(" to %v", most)
		}
	}
	if s.Claim == Holds && slices.ContainsFunc(e.Findings, checker.Kind.Violation) {
		t.Besides = strings.TrimPrefix(t.Besides+", beyond the budget", ", ")
	}
	return t
}

// Sticks says that the file expects that the lock cannot be had for as long as the run lasts, or nearly.
func (s *Scenario) Sticks() bool {
	u := s.Expect.Unavailable
	return u.Unbounded || u.AtLeast*10 >= s.Duration*9
}
