// Package jobs runs jobs, each a pure function of its number, on several cores. The results do not depend on how many cores
// there are.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// Set is jobs to do, numbered from 0. S is what a worker keeps from one job to the next, T the result of a job.
type Set[S, T any] struct {
	// N is how many jobs there are.
	N int
	// Do does one job. Jobs start in the order of their numbers. The context's error means that the job was cut short; any
	// other error ends the set.
	Do func(ctx context.Context, state *S, job int) (T, error)

	// Workers is how many jobs are done at once; zero is one for each core.
	Workers int
	// Done, if not nil, is called for every job that was done, with the time it took: one call at a time, in the order in which
	// the jobs end. Its error ends the set.
	Done func(job int, result T, took time.Duration) error
	// Name names a job for people; nil uses its number.
	Name func(job int) string
}

// Result is the outcome of a job.
type Result[T any] struct {
	Value T
	// Done says that Value is the job's result; it is false of jobs that were not begun or were cut short.
	Done bool
}

// Run does the jobs and returns their results in the order of their numbers. When ctx ends, Run starts no further job and
// returns what was done, without an error. After a job fails, Run starts no job with a higher number, finishes those with lower
// numbers, and returns the error of the lowest number that failed. A job that panics fails with a [*PanicError].
func (s Set[S, T]) Run(ctx context.Context) ([]Result[T], error) {
	workers := s.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	r := run[S, T]{Set: s, results: make([]Result[T], s.N), failed: s.N}
	var all sync.WaitGroup
	for range min(workers, s.N) {
		all.Go(func() {
			var state S
			for job, ok := r.take(ctx); ok; job, ok = r.take(ctx) {
				r.do(ctx, &state, job)
			}
		})
	}
	all.Wait()
	return r.results, r.err
}

// run is a set under way.
type run[S, T any] struct {
	Set[S, T]
	results []Result[T]

	mu     sync.Mutex
	next   int
	failed int // the lowest number of a job with an error; N if there is none
	err    error
}

// take gives a worker its next job.
func (r *run[S, T]) take(ctx context.Context) (job int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next >= min(r.N, r.failed) || ctx.Err() != nil {
		return 0, false
	}
	r.next++
	return r.next - 1, true
}

func (r *run[S, T]) do(ctx context.Context, state *S, job int) {
	start := time.Now()
	value, err := safely(func() string {
		if r.Name != nil {
			return r.Name(job)
		}
		return fmt.Sprint("job ", job)
	}, func() (T, error) { return r.Do(ctx, state, job) })
	took := time.Since(start)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && r.Done != nil {
		err = r.Done(job, value, took)
	}
	switch {
	case err == nil:
		r.results[job] = Result[T]{value, true}
	case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))):
	case job < r.failed:
		r.failed, r.err = job, err
	}
}

// safely does something of a name, and has a panic be a [*PanicError].
func safely[T any](name func() string, do func() (T, error)) (value T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{Job: name(), Value: p, Stack: debug.Stack()}
		}
	}()
	return do()
}

// PanicError is a job that panicked.
type PanicError struct {
	// Job says which, as its set names it.
	Job string
	// Value is what it panicked with, and Stack where.
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("%s: panic: %v\n%s", e.Job, e.Value, e.Stack)
}
