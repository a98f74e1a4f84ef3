// Package generate plants bugs that nobody chose: operators over syntax trees and scripts make every slip that they know, at
// every place where it fits, and a seed draws which are measured. [Load] makes the slips of some packages, and [Set.Sample]
// draws.
//
// None of the kept mutation tools fits. gremlins and ooze change operators, numbers and loops; go-mutesting removes branches
// and statements too. None confuses two variables or contexts, forgets to copy a field, drops a defer, or reads Lua; all of
// them run unit tests, and gremlins has its operators in internal packages. Operators here are tables and small functions on
// go/ast and go/types instead: [view.slips] has those of each kind of node.
package generate

import (
	"cmp"
	"fmt"
	"strings"

	"redlocksim/mutants"
)

// Mutant is one bug, of one edit.
type Mutant struct {
	// The name is the file, the function, the class, and which of that class in that function it is, as in
	// redlock/lock.go:Client.admit:condition:3.
	mutants.Mutant
	Class Class
	// Line is where the change begins, from 1.
	Line int
	// Statement is where the statement begins that it is in.
	Statement Position
}

// File is what is changed, from the module's root.
func (m Mutant) File() string { return m.Edits[0].File }

// Position is a place in a file: its line and its byte in the line, from 1.
type Position struct{ Line, Column int }

// Compare is negative if a place is before another.
func (p Position) Compare(q Position) int { return cmp.Or(p.Line-q.Line, p.Column-q.Column) }

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

// file is a source file with the bugs that were made of it.
type file struct {
	name, text string
	mutants    []Mutant
	count      map[string]int // of the bugs by the beginnings of their names
}

// slip makes a bug: the bytes from one offset to another become the text, in a statement of a function.
func (f *file) slip(c Class, function string, statement, from, to int, text string) {
	if f.text[from:to] == text {
		return
	}
	name := fmt.Sprintf("%s:%s:%s:", f.name, function, strings.ReplaceAll(string(c), " ", "-"))
	f.count[name]++
	edit := mutants.Edit{File: f.name}
	begin, end := f.lines(from, to)
	edit.Old, edit.New = f.text[begin:end], f.text[begin:from]+text+f.text[to:end]
	f.mutants = append(f.mutants, Mutant{
		Mutant: mutants.Mutant{Name: fmt.Sprint(name, f.count[name]), Edits: []mutants.Edit{edit}},
		Class:  c, Line: 1 + strings.Count(f.text[:from], "\n"), Statement: positionOf(f.text, statement),
	})
}

// lines are as many whole lines around some bytes as make them the only such place in the file.
func (f *file) lines(from, to int) (begin, end int) {
	endOfLine := func(offset int) int {
		if i := strings.IndexByte(f.text[min(offset, len(f.text)):], '\n'); i >= 0 {
			return offset + i + 1
		}
		return len(f.text)
	}
	begin, end = strings.LastIndexByte(f.text[:from], '\n')+1, 0
	for end = endOfLine(max(to, begin+1) - 1); strings.Count(f.text, f.text[begin:end]) > 1; end = endOfLine(end) {
		begin = strings.LastIndexByte(f.text[:max(begin-1, 0)], '\n') + 1
	}
	return begin, end
}
