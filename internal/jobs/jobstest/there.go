// Package jobstest does jobs as another machine would, for tests.
package jobstest

import (
	"context"
	"slices"

	"redlocksim/internal/jobs"
)

// There is another machine, to and from which all goes as JSON.
type There struct {
	server *jobs.Server
	// Done counts the jobs that it has done.
	Done int
}

// NewThere is one that does jobs of some kinds.
func NewThere(kinds ...jobs.Served) *There { return &There{server: jobs.NewServer(kinds...)} }

// Do implements jobs.Elsewhere, backwards.
func (t *There) Do(ctx context.Context, b jobs.Batch, done func(int, []byte) bool) error {
	for i, input := range slices.Backward(b.Inputs) {
		came, err := t.server.Do(ctx, jobs.Batch{Kind: b.Kind, Common: b.Common, Inputs: [][]byte{input}})
		if err != nil {
			return err
		}
		t.Done++
		done(i, came[0])
	}
	return nil
}
