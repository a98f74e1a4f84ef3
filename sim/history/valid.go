package history

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// What an [InvalidError] can be matched against with errors.Is.
var (
	// ErrEmpty: there is no event at all. Every run records something.
	ErrEmpty = errors.New("no events")
	// ErrSeq: Seq does not count 1, 2, 3 and so on.
	ErrSeq = errors.New("gap in seq")
	// ErrTime: true time is negative or falls.
	ErrTime = errors.New("true time falls")
	// ErrWord: a kind, function or outcome is not in the vocabulary, or is missing where the kind needs it.
	ErrWord = errors.New("not in the vocabulary")
	// ErrEvent: the number of an operation is negative, or a text is not UTF-8.
	ErrEvent = errors.New("not an event")
)

// InvalidError says which event keeps a sequence of events from being a history.
type InvalidError struct {
	// Line is the position of the event, from 1: its line as Encode writes it, and what its Seq should be.
	Line int
	// Err says what is wrong with it, and matches one of the errors above, or one of a caller that checks more.
	Err error
}

func (e *InvalidError) Error() string { return fmt.Sprintf("history: line %d: %v", e.Line, e.Err) }

// Unwrap gives Err.
func (e *InvalidError) Unwrap() error { return e.Err }

// Validate checks h event by event: it is not empty, Seq has no gaps, Time never falls, words are those of the vocabulary and
// present where they are needed, and text is UTF-8. The error is an [*InvalidError] for the first event that is wrong. Validate
// does not check that returns have calls.
func (h History) Validate() error {
	if len(h) == 0 {
		return &InvalidError{Line: 1, Err: ErrEmpty}
	}
	var last int64
	for i := range h {
		if err := h[i].validate(i+1, last); err != nil {
			return &InvalidError{Line: i + 1, Err: err}
		}
		last = h[i].Time
	}
	return nil
}

// validate judges the event at position seq, after one at the true time last.
func (e *Event) validate(seq int, last int64) error {
	if e.Seq != seq {
		return fmt.Errorf("%w: %d instead of %d", ErrSeq, e.Seq, seq)
	}
	if e.Time < last {
		return fmt.Errorf("%w: %d after %d", ErrTime, e.Time, last)
	}
	if e.Op < 0 || e.Grant < 0 || e.With < 0 || e.Basis < 0 {
		return fmt.Errorf("%w: negative number of an operation", ErrEvent)
	}
	if place(kinds[:], e.Kind) == 0 {
		return fmt.Errorf("%w: kind %q", ErrWord, e.Kind)
	}
	isEnd := e.Kind == Return || e.Kind == Effect // and so has an outcome
	notOfEffects := e.Func == Acquire || e.Func == Extend || e.Func == Release
	if err := checkWord(e, "a function", funcs[:], e.Func, isEnd || e.Kind == Call, notOfEffects); err != nil {
		return err
	}
	if err := checkWord(e, "an outcome", outcomes[:], e.Outcome, isEnd, e.Outcome == Unknown); err != nil {
		return err
	}
	for _, s := range [...]string{e.Process, e.Resource, e.Name, e.Node, e.Detail} {
		if !utf8.ValidString(s) {
			return fmt.Errorf("%w: text that is not UTF-8: %q", ErrEvent, s)
		}
	}
	return nil
}

// checkWord judges a function or outcome, which may be missing unless it is needed. what has the article.
func checkWord[W ~string](e *Event, what string, words []W, w W, needed, notOfEffects bool) error {
	noun := func() string { _, noun, _ := strings.Cut(what, " "); return noun }
	switch {
	case w == "" && needed:
		return fmt.Errorf("%w: %s without %s", ErrWord, e.Kind, what)
	case w == "":
	case place(words, w) == 0:
		return fmt.Errorf("%w: %s %q", ErrWord, noun(), w)
	case notOfEffects && e.Kind == Effect:
		return fmt.Errorf("%w: %s %q of an effect", ErrWord, noun(), w)
	}
	return nil
}

// The words of the vocabulary, in the order of their declaration, which the hash encodes.
var (
	kinds    = [...]Kind{Call, Return, Step, Expire, Crash, Effect, Fault}
	funcs    = [...]Func{Acquire, Extend, Release, Read, Write, Mark}
	outcomes = [...]Outcome{OK, Failed, Unknown}
)

// place is where a word stands among words, from 1; 0 if it is none of them.
func place[W ~string](words []W, w W) byte {
	for i := range words {
		if words[i] == w {
			return byte(i + 1)
		}
	}
	return 0
}
