package random

import (
	"context"
	"slices"
	"sync/atomic"

	"redlocksim/checker"
	"redlocksim/history"
	"redlocksim/internal/jobs"
	"redlocksim/search/experiment"
)

// explorer is a search under way.
type explorer struct {
	space   experiment.Space
	options Options
	*checkpoint
	raw atomic.Int32 // files with findings that are not shrunk yet
}

// each calls f for 0 to n−1 in parallel, each time with the buffer of the worker. It stops at an error or when ctx ends, and
// returns the error of the lowest number.
func (x *explorer) each(ctx context.Context, n int, f func(i int, buffer *history.History) error) error {
	_, err := jobs.Set[history.History, struct{}]{
		N: n, Workers: x.options.Jobs,
		Do: func(_ context.Context, buffer *history.History, i int) (struct{}, error) {
			return struct{}{}, f(i, buffer)
		},
	}.Run(ctx)
	return err
}

// counting are the violations of a run that count: those that faults beyond the budget excuse only if the search goes there.
func (x *explorer) counting(t *trial) []checker.Kind {
	if x.space.Beyond {
		return slices.Clone(t.Kinds)
	}
	return slices.DeleteFunc(slices.Clone(t.Kinds), func(k checker.Kind) bool { return slices.Contains(t.Excused, k) })
}
