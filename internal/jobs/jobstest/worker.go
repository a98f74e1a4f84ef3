// Package jobstest does jobs as another machine would, for tests.
package jobstest

import (
	"context"
	"fmt"
	"slices"

	"redlocksim/internal/jobs"
)

// There is another machine, to and from which all goes as JSON.
type There struct {
	server *jobs.Server
	files  map[string][]byte
	// Done counts the jobs that it has done, and Fetched how often it has fetched a file.
	Done, Fetched int
}

// NewThere is one that does jobs of some kinds.
func NewThere(kinds ...jobs.Served) *There {
	t := &There{files: map[string][]byte{}}
	t.server = jobs.NewServer(t.fetch, kinds...)
	return t
}

func (t *There) fetch(_ context.Context, hash string) ([]byte, error) {
	t.Fetched++
	if t.files[hash] == nil {
		return nil, fmt.Errorf("there is no file %s", hash)
	}
	return t.files[hash], nil
}

// Do implements jobs.Elsewhere, backwards.
func (t *There) Do(ctx context.Context, b jobs.Batch, done func(int, []byte) bool) error {
	for _, f := range b.Files {
		t.files[f.Hash] = f.Bytes
	}
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
