package foreign

import (
	"errors"
	"fmt"
)

// What an error of [Check] can be matched against with errors.Is.
var (
	// ErrOptions: the options are not right, alone or for this format.
	ErrOptions = errors.New("wrong options")
	// ErrModel: the options name no kind of lock, or one that is not known. It is an ErrOptions, too.
	ErrModel = fmt.Errorf("%w", ErrOptions)
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
	// ErrNotJudged: the history is of a kind of lock that the model does not cover.
	ErrNotJudged = errors.New("cannot be judged")
)

func notOperation(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrOperation, fmt.Sprintf(format, args...))
}

func mixedUp(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMixedUp, fmt.Sprintf(format, args...))
}

// InputError says where a history cannot be judged. Its Err matches one of the errors above.
type InputError struct {
	File  string // its name
	Line  int    // from 1
	Index *int64 // what the operation there says itself, if it does
	Err   error
}

func (e *InputError) Error() string {
	where := fmt.Sprintf("%s:%d: ", e.File, e.Line)
	if e.File == "" {
		where = fmt.Sprintf("line %d: ", e.Line)
	}
	if e.Index != nil {
		where += fmt.Sprintf("index %d: ", *e.Index)
	}
	return where + e.Err.Error()
}

// Unwrap gives Err.
func (e *InputError) Unwrap() error { return e.Err }
