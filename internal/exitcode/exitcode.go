// Package exitcode is the table of exit codes of all commands of redlocksim. The page about CI and the help texts print it. A
// command to which several codes apply exits with the Worst.
package exitcode

import (
	"fmt"
	"slices"
	"strings"

	"redlocksim/internal/wordwrap"
)

// Code is the exit code of a command.
type Code = int

// The exit codes. OK is the zero value.
const (
	OK          Code = 0 // everything came out as expected
	Safety      Code = 1 // an unexpected safety verdict
	Usage       Code = 2 // bad input or usage
	Liveness    Code = 3 // an unexpected liveness verdict
	NotRepeated Code = 4 // a repeated run gave a different result
	Internal    Code = 5 // internal error
	NotTested   Code = 6 // the run never reached what it was meant to test
	NotWritten  Code = 7 // an output could not be written
)

// Entry is a row of the table.
type Entry struct {
	Code    Code
	Name    string // as constants and reports have it
	Meaning string
}

// Table is every exit code, in ascending order.
func Table() []Entry {
	return []Entry{
		{OK, "ok", "as expected"},
		{Safety, "safety", "unexpected safety verdict"},
		{Usage, "usage", "bad input or usage"},
		{Liveness, "liveness", "unexpected liveness verdict"},
		{NotRepeated, "not repeated", "a repeated run gave a different result"},
		{Internal, "internal", "internal error"},
		{NotTested, "not tested", "not tested (the run never reached what it was meant to test)"},
		{NotWritten, "not written", "an output could not be written"},
	}
}

// precedence lists the codes from worst to best: first those after which a verdict cannot be trusted or was not delivered, then
// the verdicts by weight.
var precedence = []Code{Internal, NotWritten, Usage, NotRepeated, Safety, Liveness, NotTested, OK}

// Worst is the code of a command to which several apply; OK for none. A code that is not in the table counts as Internal.
func Worst(codes ...Code) Code {
	worst := len(precedence) - 1
	for _, c := range codes {
		worst = min(worst, max(0, slices.Index(precedence, c)))
	}
	return precedence[worst]
}

// Specifics says in more detail what codes mean for one command.
type Specifics map[Code]string

// Help is the list of a command's codes in its help text: those that it has specifics for, and Usage, Internal and NotWritten,
// which every command has.
func Help(of Specifics) string {
	return list(func(e Entry) (string, bool) {
		more, given := of[e.Code]
		switch {
		case given && more != "":
			return e.Meaning + ": " + more, true
		case given || slices.Contains([]Code{OK, Usage, Internal, NotWritten}, e.Code):
			return e.Meaning, true
		}
		return "", false
	})
}

// HelpOnAll is Help with every code of the table.
func HelpOnAll() string {
	return list(func(e Entry) (string, bool) { return e.Meaning, true })
}

// Heading begins the list of codes in a help text.
const Heading = "Exit codes:\n"

func list(text func(Entry) (string, bool)) string {
	var b strings.Builder
	b.WriteString(Heading)
	for _, e := range Table() {
		t, ok := text(e)
		if !ok {
			continue
		}
		b.WriteString(wordwrap.Help(fmt.Sprintf("  %d ", e.Code), "     ", t))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Markdown is the table as docs/ci.md has it.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| exit code | meaning |\n|---|---|\n")
	for _, e := range Table() {
		fmt.Fprintf(&b, "| %d | %s |\n", e.Code, e.Meaning)
	}
	return b.String()
}
