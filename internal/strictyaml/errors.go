package strictyaml

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// maxErrors is the number of errors reported of one file. Where there are more, one last entry of [Errors] says so.
const maxErrors = 20

const (
	maxWord  = 60 // runes of the file repeated in an error
	maxValid = 12 // valid words listed in an error
)

// An Error is one fault of a file.
type Error struct {
	File         string
	Line, Column int      // from 1; the column counts characters, not bytes
	Path         string   // where in the document, as nodes[2].clock; empty at its root
	Word         string   // the offending word, shortened if very long
	Suggestion   string   // the nearest valid word, if one is near
	Valid        []string // the valid words, if none is near
	Msg          string

	cause error
}

// Error prints file:line:col: path: message "word"; did you mean "x"?
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	b.WriteString(": ")
	if e.Path != "" {
		b.WriteString(e.Path + ": ")
	}
	b.WriteString(e.Msg)
	if e.Word != "" {
		fmt.Fprintf(&b, " %q", e.Word)
	}
	switch {
	case e.Suggestion != "":
		fmt.Fprintf(&b, "; did you mean %q?", e.Suggestion)
	case len(e.Valid) > maxValid:
		fmt.Fprintf(&b, "; valid: %s, ...", wordList(e.Valid[:maxValid]))
	case len(e.Valid) > 0:
		fmt.Fprintf(&b, "; valid: %s", wordList(e.Valid))
	}
	return b.String()
}

// Unwrap returns the error of an [Unmarshaler] that this one locates, or nil.
func (e *Error) Unwrap() error { return e.cause }

// without takes away the line and the key of a text that is the value of one key.
func (e *Error) without(key string) *Error {
	e.Line, e.Column = 0, 0
	e.Path = strings.TrimPrefix(strings.TrimPrefix(e.Path, key), ".")
	return e
}

// Errorf makes an error for a place in a file, for checks made after decoding: a reference to a node that does not exist, at
// the position that a [Located] kept. The nearest word of valid becomes the suggestion; if none is near, the error lists them
// all. The caller may set Path.
func Errorf(file string, line, column int, word string, valid []string, format string, args ...any) *Error {
	e := &Error{
		File:   file,
		Line:   line,
		Column: column,
		Word:   clip(word),
		Msg:    oneLine(fmt.Sprintf(format, args...)),
	}
	if near, ok := Nearest(word, valid); ok {
		e.Suggestion = near
	} else {
		e.Valid = slices.Clone(valid)
	}
	return e
}

// Errors are the faults of a file, in the order of the file. It is the type of every error that [Decode] and [DecodeNode]
// return.
type Errors []*Error

// Error prints one fault a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the faults, for errors.Is and errors.As.
func (e Errors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, one := range e {
		errs[i] = one
	}
	return errs
}

// Err sorts the faults by position and keeps the first 20 of them. It returns nil if there are none, so that a check can end in
// return errs.Err().
func (e Errors) Err() error {
	if len(e) == 0 {
		return nil
	}
	sorted := slices.Clone(e)
	slices.SortStableFunc(sorted, func(a, b *Error) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Msg, b.Msg),
			cmp.Compare(a.Word, b.Word),
		)
	})
	if len(sorted) > maxErrors {
		first := sorted[maxErrors]
		sorted = append(sorted[:maxErrors:maxErrors], &Error{
			File: first.File, Line: first.Line, Column: first.Column,
			Msg: "from here on there are more errors; mend these first",
		})
	}
	return sorted
}

// Invalid is an error for an [Unmarshaler] to return that knows which words would have been right. Decoding turns it into an
// [Error] with a suggestion.
type Invalid struct {
	Msg   string   // "unknown fault kind"
	Word  string   // the wrong word; if empty, the whole text
	Valid []string // in the order to list them
}

// Error prints the message and the word.
func (i *Invalid) Error() string {
	if i.Word == "" {
		return i.Msg
	}
	return fmt.Sprintf("%s %q", i.Msg, i.Word)
}

// wordList leaves plain words plain and quotes those that are not.
func wordList(words []string) string {
	shown := make([]string, len(words))
	for i, w := range words {
		shown[i] = pathWord(w)
	}
	return strings.Join(shown, ", ")
}

// pathWord quotes a word that would not read as one word.
func pathWord(word string) string {
	plain := word != ""
	for _, r := range word {
		plain = plain && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-')
	}
	if word = clip(word); plain {
		return word
	}
	return fmt.Sprintf("%q", word)
}

func clip(word string) string {
	count := 0
	for i := range word {
		if count == maxWord {
			return word[:i] + "..."
		}
		count++
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
