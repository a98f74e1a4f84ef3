package strictyaml

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// maxErrors is the number of errors reported of one file. Where there are more, one last entry of [Errors] says so.
// maxCollected bounds the work and memory spent on the errors of a hopeless file; those reported are the first in the file of
// the ones collected.
const (
	maxErrors    = 20
	maxCollected = 1000
)

const (
	maxWord  = 60 // runes of the file repeated in an error
	maxValid = 12 // valid words listed in an error
)

// An Error is one fault of a file.
type Error struct {
	File         string
	Line, Column int    // from 1; the column counts characters, not bytes
	Path         string // where in the document, as nodes[2].clock; empty at its root
	Msg          string
	Word         string // the offending word, shortened if very long

	hint  string // of what would be right
	cause error
}

// Error prints file:line:col: path: message "word"; did you mean "x"?
func (e *Error) Error() string {
	text := e.File
	if e.Line > 0 {
		text += fmt.Sprintf(":%d:%d", e.Line, e.Column)
	}
	if e.Path != "" {
		text += ": " + e.Path
	}
	return text + ": " + e.said()
}

// said is what is wrong, without where.
func (e *Error) said() string {
	if e.Word == "" {
		return e.Msg + e.hint
	}
	return fmt.Sprintf("%s %q%s", e.Msg, e.Word, e.hint)
}

// Unwrap returns the error of an [Unmarshaler] that this one locates, or nil.
func (e *Error) Unwrap() error { return e.cause }

// Errorf makes an error for a place in a file, for checks made after decoding. The word is what is wrong there, and the nearest
// of the valid ones is suggested; if none is near, the error lists them all.
func Errorf(file string, line, column int, word string, valid []string, format string, args ...any) *Error {
	return &Error{File: file, Line: line, Column: column, Msg: oneLine(fmt.Sprintf(format, args...)), Word: clip(word),
		hint: cmp.Or(DidYouMean(Nearest(word, valid)), list(valid))}
}

// list lists what would be right; empty if nothing is given.
func list(valid []string) string {
	if len(valid) == 0 {
		return ""
	}
	var words []string
	for _, w := range valid[:min(len(valid), maxValid)] {
		words = append(words, plainly(w))
	}
	if len(valid) > maxValid {
		words = append(words, "...")
	}
	return "; valid: " + strings.Join(words, ", ")
}

// Errors are the faults of a file, in the order of the file: the type of every error of [Decode].
type Errors []*Error

// Error prints one fault a line.
func (e Errors) Error() string { return errors.Join(e.Unwrap()...).Error() }

// Unwrap returns the faults, for errors.Is and errors.As.
func (e Errors) Unwrap() (all []error) {
	for _, one := range e {
		all = append(all, one)
	}
	return all
}

// Add adds a fault and says so, unless there are too many already, or the same one at the same place, as of a part that several
// cases share.
func (e *Errors) Add(one *Error) bool {
	if len(*e) >= maxCollected || slices.ContainsFunc(*e, func(other *Error) bool {
		return other.Line == one.Line && other.Column == one.Column && other.said() == one.said()
	}) {
		return false
	}
	*e = append(*e, one)
	return true
}

// Err sorts the faults by position and keeps the first 20 of them. It returns nil if there are none, so that a check can end in
// return errs.Err().
func (e Errors) Err() error {
	if len(e) == 0 {
		return nil
	}
	sorted := slices.SortedStableFunc(slices.Values(e), func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.said(), b.said()))
	})
	if len(sorted) > maxErrors {
		first := sorted[maxErrors]
		sorted = append(sorted[:maxErrors], &Error{File: first.File, Line: first.Line, Column: first.Column,
			Msg: "from here on there are more errors; mend these first"})
	}
	return Errors(sorted)
}

// Invalid is an error for an [Unmarshaler] to return that knows which words would have been right.
type Invalid struct {
	Msg   string   // "unknown fault kind"
	Word  string   // the wrong word
	Valid []string // in the order to list them
}

// Error prints the message and the word.
func (i *Invalid) Error() string { return fmt.Sprintf("%s %q", i.Msg, i.Word) }

// plainly quotes a word that would not read as one word.
func plainly(word string) string {
	isPlain := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' }
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !isPlain(r) }) < 0 {
		return clip(word)
	}
	return fmt.Sprintf("%q", clip(word))
}

func clip(word string) string {
	if runes := []rune(word[:min(len(word), maxWord*4+1)]); len(runes) > maxWord {
		return string(runes[:maxWord]) + "..."
	}
	return word
}

// oneLine keeps text from a file on its line of the report.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}
