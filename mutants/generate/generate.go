// Package generate plants bugs that nobody chose: operators over syntax trees and scripts make every slip that they know, at
// every place where it fits, and a seed draws which are measured. [Load] makes the slips of a [Target], and [Set.Sample] draws.
//
// None of the kept mutation tools fits. gremlins and ooze change operators, numbers and loops; go-mutesting removes branches
// and statements too. None confuses two variables or contexts, forgets to copy a field, drops a defer, or reads Lua; all of
// them run unit tests, and gremlins has its operators in internal packages. Operators here are small functions on go/ast and
// go/types instead ([operators], [luaOperators]).
package generate

import (
	"fmt"
	"slices"
	"strings"

	"redlocksim/mutants"
)

// Target is the code that bugs are planted into.
type Target string

const (
	// Library is the library, its adapter, the adapter's scripts, and the packages that these alone are made of.
	Library Target = "library"
	// Semaphores is the semaphores and read-write locks that are made of the library's locks.
	Semaphores Target = "semaphores"
	// Protocols is the locks of others, as the simulator implements them anew.
	Protocols Target = "protocols"
)

// directories are the packages of each target, from the module's root.
var directories = map[Target][]string{
	Library:    {"internal/batch", "internal/quorum", "internal/redisnode", "redlock", "redlock/driver", "redlock/goredis", "redlock/single"},
	Semaphores: {"redlock/semaphore"},
	Protocols:  {"scenarios/protocols"},
}

// Mutant is one bug.
type Mutant struct {
	// Name is the file, the function, the class, and which of that class in that function it is, as in
	// redlock/lock.go:Client.admit:condition:3.
	Name  string
	Class Class
	// Line is where the change begins, from 1.
	Line int
	Edit mutants.Edit
	// Statement is where the statement begins that it is in.
	Statement Position
}

// Position is a place in a file: its line and its byte in the line, from 1.
type Position struct{ Line, Column int }

func positionOf(text string, offset int) Position {
	return Position{1 + strings.Count(text[:offset], "\n"), offset - strings.LastIndexByte(text[:offset], '\n')}
}

// Class is what kind of slip a bug is.
type Class string

// The classes, in the order in which reports list them.
const (
	Condition Class = "condition" // a condition, or a part of one, is negated
	Boundary  Class = "boundary"  // < for <=, and so on; for instants as well
	Logic     Class = "logic"     // && for ||, or one of the two is forgotten
	OffByOne  Class = "off by one"
	Constant  Class = "constant" // another number, duration, or truth value; another of the named constants of a type
	Operator  Class = "operator" // + for -, min for max
	Swapped   Class = "swapped"  // two arguments or operands of one type
	Variable  Class = "variable" // another variable or field of the same type
	Context   Class = "context"  // another context
	Field     Class = "field"    // a field that a composite literal does not copy
	Statement Class = "statement"
	Return    Class = "early return" // one more, or one less
	Result    Class = "result"       // nil for an error; the opposite of a truth value
	Locking   Class = "locking"      // a mutex that is not locked, or not unlocked
	Defer     Class = "defer"        // what is deferred never happens, or happens at once
	Loop      Class = "loop"         // ends after its first turn, or with the first that it should skip
	Copy      Class = "copy"         // shared with the caller, and not copied
	Command   Class = "command"      // a script's command, argument or key
)

// Classes are all of them.
func Classes() []Class {
	return []Class{Condition, Boundary, Logic, OffByOne, Constant, Operator, Swapped, Variable, Context, Field, Statement,
		Return, Result, Locking, Defer, Loop, Copy, Command}
}

// slip is a change of a source text: the bytes from one offset to another become the text.
type slip struct {
	class    Class
	from, to int
	text     string
}

// place is where a slip was made.
type place struct {
	file, function string
	statement      int
}

// named makes mutants of the slips of one file, whose names count the slips of a class in a function.
func named(source string, slips []slip, places []place) []Mutant {
	var all []Mutant
	count := map[string]int{}
	for i, s := range slips {
		p := places[i]
		if source[s.from:s.to] == s.text {
			continue
		}
		prefix := fmt.Sprintf("%s:%s:%s:", p.file, p.function, strings.ReplaceAll(string(s.class), " ", "-"))
		count[prefix]++
		all = append(all, Mutant{
			Name: fmt.Sprint(prefix, count[prefix]), Class: s.class, Line: 1 + strings.Count(source[:s.from], "\n"),
			Edit: edit(p.file, source, s), Statement: positionOf(source, p.statement),
		})
	}
	return all
}

// edit is the slip with as many whole lines around it as make it the only such place in the file.
func edit(file, source string, s slip) mutants.Edit {
	from := strings.LastIndexByte(source[:s.from], '\n') + 1
	to := endOfLine(source, max(s.to, from+1)-1)
	for strings.Count(source, source[from:to]) > 1 {
		from = strings.LastIndexByte(source[:max(from-1, 0)], '\n') + 1
		to = endOfLine(source, to)
	}
	return mutants.Edit{File: file, Old: source[from:to], New: source[from:s.from] + s.text + source[s.to:to]}
}

// endOfLine is the offset after the end of the line that offset is in.
func endOfLine(source string, offset int) int {
	if i := strings.IndexByte(source[min(offset, len(source)):], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(source)
}

// Diff is the change as lines with - and +, without those around it that are the same.
func (m Mutant) Diff() string {
	before, after := strings.SplitAfter(m.Edit.Old, "\n"), strings.SplitAfter(m.Edit.New, "\n")
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	var b strings.Builder
	for sign, lines := range slices.All([][]string{before, after}) {
		for _, line := range lines {
			if line = strings.TrimRight(line, "\n"); strings.TrimSpace(line) != "" {
				fmt.Fprintf(&b, "%c%s\n", "-+"[sign], line)
			}
		}
	}
	return b.String()
}

// Mutant is the bug for [mutants.Mutant.Overlay].
func (m Mutant) Mutant() mutants.Mutant {
	name := strings.NewReplacer("/", "-", ":", "-", "*", "").Replace(m.Name)
	return mutants.Mutant{Name: name, Bug: string(m.Class), Edits: []mutants.Edit{m.Edit}}
}
