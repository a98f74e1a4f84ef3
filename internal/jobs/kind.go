package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"redlocksim/internal/printable"
)

// Kind is a kind of job that other machines can do, too: what comes of a job depends on what all jobs of its set share, on its
// input, and on nothing else. So it does not matter where it is done, nor how often.
type Kind[C, S, I, O any] struct {
	// Name is what workers know it by.
	Name string
	// Title names a job for people; nil uses its number.
	Title func(I) string
	// Do does one job. S is what a worker keeps from one job to the next, and changes nothing.
	Do func(ctx context.Context, common C, state *S, input I) (O, error)
	// Pack and Unpack write and read what the jobs of a set share. Inputs and outputs are JSON on their way.
	Pack   func(C) ([]byte, error)
	Unpack func(ctx context.Context, packed []byte, fetch Fetch) (C, error)
	// Files are what Pack names by its hash and Unpack fetches; nil if there are none.
	Files func(C) []File
	// Check says what is wrong with an output that another machine has sent, which may be anything of its type; nil checks
	// nothing.
	Check func(common C, input I, output O) error
	// Errors are those that callers look for with errors.Is. All else that is left of an error on another machine is its text.
	Errors []error
}

// Place is where jobs are done. The zero value is here, on all cores.
type Place struct {
	// Workers is how many are done here at once; zero is one for each core.
	Workers int
	// Elsewhere, if not nil, does them instead.
	Elsewhere Elsewhere
}

// Batch is jobs of one kind on their way: JSON, but for what they share.
type Batch struct {
	Kind   string
	Common []byte
	// Files are for whoever does the jobs to fetch.
	Files  []File
	Inputs [][]byte
}

// File is a part of what the jobs of many sets share, too large to go with each of them.
type File struct {
	// Hash is the SHA-256 of Bytes, in hexadecimal digits.
	Hash  string
	Bytes []byte
}

// Fetch returns the bytes of a file that has a hash.
type Fetch func(ctx context.Context, hash string) ([]byte, error)

// Elsewhere does jobs on other machines.
type Elsewhere interface {
	// Do does the jobs of a batch, and calls done with what came of each, in any order, one call at a time. Once done says that
	// enough is known, jobs with higher numbers need not be done. When ctx ends it returns without an error.
	Do(ctx context.Context, b Batch, done func(job int, outcome []byte) (enough bool)) error
}

// FailedError is the error of a job.
type FailedError struct {
	Job int
	Err error
}

func (e *FailedError) Error() string { return e.Err.Error() }
func (e *FailedError) Unwrap() error { return e.Err }

// Run does one job for each input, as [Set.Run] does. The error is a [*FailedError], or that of the place. done, if not nil, is
// called for every job that is done: one call at a time, in any order. Its error counts as the job's.
func (k Kind[C, S, I, O]) Run(ctx context.Context, at Place, common C, inputs []I, done func(job int, output O) error) ([]Result[O], error) {
	if done == nil {
		done = func(int, O) error { return nil }
	}
	if at.Elsewhere != nil {
		return k.elsewhere(ctx, at.Elsewhere, common, inputs, done)
	}
	return Set[S, O]{
		N: len(inputs), Workers: at.Workers,
		Do: func(ctx context.Context, state *S, job int) (O, error) {
			output, err := k.Do(ctx, common, state, inputs[job])
			if err != nil {
				err = &FailedError{job, err}
			}
			return output, err
		},
		Done: func(job int, output O, _ time.Duration) error { return done(job, output) },
		Name: func(job int) string { return k.title(job, inputs[job]) },
	}.Run(ctx)
}

func (k Kind[C, S, I, O]) title(job int, input I) string {
	if k.Title == nil {
		return fmt.Sprintf("%s %d", k.Name, job)
	}
	return k.Title(input)
}

func (k Kind[C, S, I, O]) elsewhere(ctx context.Context, e Elsewhere, common C, inputs []I, done func(int, O) error) ([]Result[O], error) {
	results := make([]Result[O], len(inputs))
	if len(inputs) == 0 {
		return results, nil
	}
	b := Batch{Kind: k.Name, Inputs: make([][]byte, len(inputs))}
	var err error
	if b.Common, err = k.Pack(common); err != nil {
		return nil, err
	}
	if k.Files != nil {
		b.Files = k.Files(common)
	}
	for i := range inputs {
		if b.Inputs[i], err = json.Marshal(inputs[i]); err != nil {
			return nil, err
		}
	}
	failed := len(inputs) // the lowest number of a job with an error
	var failure error
	err = e.Do(ctx, b, func(job int, outcome []byte) (enough bool) {
		output, err := k.decode(job, inputs[job], outcome)
		if err == nil && k.Check != nil {
			if wrong := k.Check(common, inputs[job], output); wrong != nil {
				err = other(wrong)
			}
		}
		if err == nil {
			err = done(job, output)
		}
		switch {
		case err == nil:
			results[job] = Result[O]{output, true}
		case job < failed:
			failed, failure = job, err
		}
		return err != nil
	})
	return results, errors.Join(failure, err)
}

// outcome is what came of a job, on its way back.
type outcome struct {
	Output json.RawMessage `json:"output,omitempty"`
	Error  *lostError      `json:"error,omitempty"`
}

// lostError is what is left of an error on another machine.
type lostError struct {
	Text string `json:"text"`
	// Is are the numbers of the kind's Errors that it matches.
	Is []int `json:"is,omitempty"`
	// Stack is where a job panicked with Text.
	Stack []byte `json:"stack,omitempty"`

	is []error
}

func (e *lostError) Error() string   { return e.Text }
func (e *lostError) Unwrap() []error { return e.is }

// errOtherProgram is an outcome that this program cannot have written.
var errOtherProgram = errors.New("a worker answers in another way than this program does")

// other is the error of such an outcome, whose parts the reason may quote.
func other(reason error) error { return fmt.Errorf("%w: %s", errOtherProgram, text(reason.Error())) }

// maxText bounds the text of an error on another machine, in bytes. A stack has some ten thousand.
const maxText = 64 << 10

// text is one that another machine has sent, for terminals and logs.
func text(sent string) string { return printable.Lines(printable.Short(sent, maxText)) }

func (k Kind[C, S, I, O]) decode(job int, input I, data []byte) (output O, err error) {
	var came outcome
	if err := json.Unmarshal(data, &came); err != nil {
		return output, other(err)
	}
	switch e := came.Error; {
	case e == nil:
		if err := json.Unmarshal(came.Output, &output); err != nil {
			return output, other(err)
		}
		return output, nil
	case e.Stack != nil:
		return output, &PanicError{Job: k.title(job, input), Value: text(e.Text), Stack: []byte(text(string(e.Stack)))}
	default:
		for _, i := range e.Is {
			if i < 0 || i >= len(k.Errors) {
				return output, other(fmt.Errorf("error %d of %d", i, len(k.Errors)))
			}
			e.is = append(e.is, k.Errors[i])
		}
		e.Text = text(e.Text)
		return output, &FailedError{job, e}
	}
}

// encode writes what came of a job.
func (k Kind[C, S, I, O]) encode(output O, err error) ([]byte, error) {
	var came outcome
	if p, ok := errors.AsType[*PanicError](err); ok {
		came.Error = &lostError{Text: fmt.Sprint(p.Value), Stack: p.Stack}
	} else if err != nil {
		came.Error = &lostError{Text: err.Error()}
		for i, one := range k.Errors {
			if errors.Is(err, one) {
				came.Error.Is = append(came.Error.Is, i)
			}
		}
	} else if came.Output, err = json.Marshal(output); err != nil {
		return nil, err
	}
	return json.Marshal(came)
}
