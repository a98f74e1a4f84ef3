// Package foreign judges histories of locks that somebody else recorded: those of Jepsen, as EDN or JSON, and the
// project's own.
//
// Start at [Check]. [Model] says what kinds of lock there are, [Options] what the checker has to be told.
package foreign

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"redlocksim/checker"
)

// Model is the kind of lock a history is judged as.
type Model string

const (
	// Mutex has no owners: an acquire succeeds when the lock is free, a release when it is held, whoever calls. It is
	// Jepsen's mutex (knossos.model/mutex). An extend succeeds when the lock is held.
	Mutex Model = "mutex"
	// Owner is a mutex that only the process which acquired it can release or extend, and that nobody, the holder
	// included, can acquire while it is held.
	Owner Model = "owner"
	// Reentrant is an Owner whose holder can acquire again, and has to release as often as it acquired.
	Reentrant Model = "reentrant"
	// Fenced is an Owner whose acquire returns a token, higher than that of every grant before.
	Fenced Model = "fenced"
	// ReentrantFenced is a Reentrant whose acquire returns a token: a new hold has a higher one than every hold before,
	// and who acquires again while holding gets that of its hold.
	ReentrantFenced Model = "reentrant-fenced"
	// Lease is an Owner that others can take the lock from, from a given time after its acquire, or last extend, was
	// called.
	Lease Model = "lease"
)

// Models lists the models. What each allows is defined in docs/checker.md.
func Models() []Model { return []Model{Mutex, Owner, Reentrant, Fenced, ReentrantFenced, Lease} }

func (m Model) known() bool { return slices.Contains(Models(), m) }

// reentrant reports whether the holder can acquire again.
func (m Model) reentrant() bool { return m == Reentrant || m == ReentrantFenced }

// fenced reports whether grants have tokens.
func (m Model) fenced() bool { return m == Fenced || m == ReentrantFenced }

// UnknownToken is what stands for a token that the client was not told, as Hazelcast's FencedLock does.
const UnknownToken = -1

// Format is how a history is written down.
type Format string

const (
	// Native is the project's own JSON Lines ([history.Decode]).
	Native Format = "native"
	// EDN is Jepsen's history.edn: maps one after the other, or in one vector or list.
	EDN Format = "edn"
	// JSON is the same in JSON: objects one after the other, or in one array.
	JSON Format = "json"
)

// Formats lists the formats.
func Formats() []Format { return []Format{Native, EDN, JSON} }

// Grouping is how the operations of a history are told apart by the lock they are on.
type Grouping string

const (
	// ByNameIfAny is ByKey if the operations name a lock in a way that cannot be meant otherwise, a field of their own,
	// a pair or a map, and OneLock if none does. A history in which some do and some do not is refused.
	ByNameIfAny Grouping = "auto"
	// OneLock: all operations are on the same lock.
	OneLock Grouping = "none"
	// ByKey: every operation names its lock. The name is, in this order: the field key, lock, name or resource of the
	// operation; the first of a value that is a pair, as Jepsen's independent keys are; the field key, lock, name or
	// resource of a value that is a map; a value that is a text or keyword. The call or the return may leave it out.
	ByKey Grouping = "key"
)

// Groupings lists the groupings.
func Groupings() []Grouping { return []Grouping{ByNameIfAny, OneLock, ByKey} }

// Options say how a history is to be read and judged.
type Options struct {
	// Format: empty means that the content tells.
	Format Format
	// Model: needed for all formats but Native. That has the ends of the leases in it, and takes none or Reentrant.
	Model Model
	// Lease is how long a lease lasts; for the model Lease, and for no other.
	Lease time.Duration
	// Group: empty means ByNameIfAny. A Native history always names its locks.
	Group Grouping
	// Keys are the locks to judge, where operations name theirs; empty means all. Only are the functions to judge, as the
	// file names them; empty means all, and that an unknown one is an error. The rest is passed over and counted. Neither
	// is for a Native history.
	Keys, Only []string
	// Sort puts the lines in the order of their times, which all must have, and leaves indexes alone. Otherwise they must
	// be in order. Not for a Native history.
	Sort bool
	// MaxPorcupine bounds what porcupine is given, in operations on one lock: zero means
	// [checker.DefaultMaxOperations], negative that it is not asked.
	MaxPorcupine int
}

// maxPorcupineTotal bounds what porcupine is given of one history, so that many locks below the bound for one do not
// add up to minutes.
const maxPorcupineTotal = 50_000

// NotHeld is the finding of a release or extend that succeeded though the lock, as far as anybody can know, was not
// held, or not by this process.
const NotHeld checker.Kind = "not-held"

// What an error of [Check] can be matched against with errors.Is, besides those of package history.
var (
	// ErrOptions: the options are not right, alone or for this format.
	ErrOptions = errors.New("wrong options")
	// ErrEmpty: there is no operation on a lock.
	ErrEmpty = errors.New("no operations")
	// ErrTruncated: the history ends inside an operation, or before the end of its vector.
	ErrTruncated = errors.New("ends too early")
	// ErrSyntax: it is not EDN, or not JSON.
	ErrSyntax = errors.New("cannot be read")
	// ErrTooLarge: a bound of this package is passed: of the size of an operation, its nesting, or their number.
	ErrTooLarge = errors.New("too large")
	// ErrOperation: a map is not an operation: a field is missing, of the wrong kind, or a word is unknown.
	ErrOperation = errors.New("not an operation")
	// ErrMixedUp: calls and returns do not match, or the order is not that of the recording.
	ErrMixedUp = errors.New("mixed up")
	// ErrUndecided: no checker could answer within its bounds.
	ErrUndecided = errors.New("undecided")
)

// InputError says where a history cannot be judged. Its Err matches one of the errors above, or of package history.
type InputError struct {
	Line  int    // from 1
	Index *int64 // what the operation there says itself, if it does
	Err   error
}

func (e *InputError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason()) }

// Reason is the error without the line: the index, if there is one, and Err.
func (e *InputError) Reason() string {
	if e.Index != nil {
		return fmt.Sprintf("index %d: %v", *e.Index, e.Err)
	}
	return e.Err.Error()
}

// Unwrap gives Err.
func (e *InputError) Unwrap() error { return e.Err }

// Operation is one operation as it stands in the file.
type Operation struct {
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
	Model  Model // empty for a Native history that was judged by its own windows
	Lease  time.Duration
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
	// Confirmed is how many locks were judged a second time, by porcupine, and found the same. Unconfirmed says why
	// the others were not.
	Confirmed   int
	Unconfirmed string
	// Notes are observations that a reader should have, though they are no violations.
	Notes []string
}

// Good reports whether the history shows no violation.
func (r *Report) Good() bool { return r.Broken == 0 }

func (r *Report) add(f Finding) {
	r.Broken++
	if len(r.Findings) < maxFindings {
		r.Findings = append(r.Findings, f)
	}
}

// never is the place in a history of what does not happen.
const never = math.MaxInt

// Check reads a history from in and judges it, in O(n log n). Of a history with a million operations it keeps some 100 MB,
// whatever else stands in its lines, and porcupine needs as much again within its bounds. A Native history takes two or
// three times as much, depending on how many of its operations read and write, and is read to its end before it is judged.
//
// What cannot be judged gives an [*InputError], or an error that matches [ErrOptions]; an error of in itself is returned
// as it is. A [*checker.DisagreeError] is a defect of this package: the two checks differ.
func Check(in io.Reader, o Options) (*Report, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	s := newScanner(in)
	format := o.Format
	if format == "" {
		var err error
		if format, err = s.detect(); err != nil {
			return nil, err
		}
	}
	if err := o.fits(format); err != nil {
		return nil, err
	}
	if format == Native {
		return checkNative(s.rest(), o)
	}
	h, err := read(s, format, o)
	if err != nil {
		return nil, err
	}
	return h.judge(o, bothOpinions)
}

func (o *Options) validate() error {
	known := func(what, word string, is bool) error {
		if is {
			return nil
		}
		return fmt.Errorf("%w: there is no %s %q", ErrOptions, what, word)
	}
	switch o.Format {
	case "", Native, EDN, JSON:
	default:
		return known("format", string(o.Format), false)
	}
	if o.Model != "" && !o.Model.known() {
		return known("model", string(o.Model), false)
	}
	switch o.Group {
	case "", ByNameIfAny, OneLock, ByKey:
	default:
		return known("grouping", string(o.Group), false)
	}
	for _, f := range o.Only {
		if !slices.Contains(functions, f) {
			return fmt.Errorf("%w: %q is no operation on a lock; there are %s", ErrOptions, f, strings.Join(functions, ", "))
		}
	}
	if len(o.Keys) > 0 && o.Group == OneLock {
		return fmt.Errorf("%w: if all operations are on one lock, none can be chosen by key", ErrOptions)
	}
	switch {
	case o.Model == Lease && o.Lease <= 0:
		return fmt.Errorf("%w: the model lease needs to know how long a lease lasts", ErrOptions)
	case o.Model != Lease && o.Lease != 0:
		return fmt.Errorf("%w: the length of the lease is for the model lease only", ErrOptions)
	}
	return nil
}

func (o *Options) fits(f Format) error {
	if f != Native {
		if o.Model == "" {
			return fmt.Errorf("%w: the history does not say what kind of lock it is of, so a model is needed", ErrOptions)
		}
		return nil
	}
	if o.Model != "" && o.Model != Reentrant {
		return fmt.Errorf("%w: a history of redlocksim says itself when each lease ended; the only model it can be given is reentrant, not %s",
			ErrOptions, o.Model)
	}
	if len(o.Keys) > 0 || len(o.Only) > 0 || o.Sort {
		return fmt.Errorf("%w: a history of redlocksim is judged as it stands, neither sorted nor in part", ErrOptions)
	}
	if o.Group != "" && o.Group != ByKey && o.Group != ByNameIfAny {
		return fmt.Errorf("%w: a history of redlocksim always names its locks", ErrOptions)
	}
	return nil
}
