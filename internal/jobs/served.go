package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
)

// Served is a kind of job that a worker does for others.
type Served interface {
	name() string
	// open reads what the jobs of a set share, and returns what makes workers for them.
	open(common []byte) (func() work, error)
}

// work does one job after the other, and says what came of it. The error is that of a job that was cut short.
type work func(ctx context.Context, input []byte) (came []byte, failed bool, err error)

func (k Kind[C, S, I, O]) name() string { return k.Name }

func (k Kind[C, S, I, O]) open(packed []byte) (func() work, error) {
	common, err := k.Unpack(packed)
	if err != nil {
		return nil, err
	}
	return func() work {
		var state S
		return func(ctx context.Context, data []byte) ([]byte, bool, error) {
			var input I
			if err := json.Unmarshal(data, &input); err != nil {
				return nil, false, err
			}
			output, err := Set[S, O]{N: 1, Workers: 1, Do: func(ctx context.Context, _ *S, _ int) (O, error) {
				return k.Do(ctx, common, &state, input)
			}}.one(ctx)
			if ctx.Err() != nil {
				return nil, false, context.Cause(ctx)
			}
			came, encodeErr := k.encode(output, err)
			return came, err != nil, encodeErr
		}
	}, nil
}

// one does the only job of a set.
func (s Set[S, T]) one(ctx context.Context) (output T, err error) {
	results, err := s.Run(ctx)
	return results[0].Value, err
}

// Server does batches of jobs of the kinds that it knows, any number at once. It keeps what the jobs of the last few sets
// share.
type Server struct {
	kinds map[string]Served

	mu     sync.Mutex
	opened []*set // the last used comes last
}

// set is what jobs share, and workers that have nothing to do.
type set struct {
	of      [sha256.Size]byte
	newWork func() work
	idle    []work
}

// maxOpened bounds the sets that a server keeps: a step of a search has few, and one machine serves few searches.
const maxOpened = 16

// NewServer is a server for kinds of jobs.
func NewServer(kinds ...Served) *Server {
	s := &Server{kinds: map[string]Served{}}
	for _, k := range kinds {
		s.kinds[k.name()] = k
	}
	return s
}

// Do does the jobs of a batch one after the other, up to the first that fails, and returns what came of each. The error is that
// of a batch that is none of this program's, or of ctx.
func (s *Server) Do(ctx context.Context, b Batch) (outcomes [][]byte, err error) {
	of, w, err := s.take(b)
	if err != nil {
		return nil, err
	}
	for _, input := range b.Inputs {
		came, failed, err := w(ctx, input)
		if err != nil {
			return nil, err
		}
		if outcomes = append(outcomes, came); failed {
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	of.idle = append(of.idle, w)
	return outcomes, nil
}

// take gives a worker for a batch.
func (s *Server) take(b Batch) (*set, work, error) {
	k, ok := s.kinds[b.Kind]
	if !ok {
		return nil, nil, fmt.Errorf("%w: there are no jobs of kind %q", errOtherProgram, b.Kind)
	}
	of := sha256.Sum256(append([]byte(b.Kind+"\n"), b.Common...))
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, x := range s.opened {
		if x.of != of {
			continue
		}
		s.opened = append(append(s.opened[:i:i], s.opened[i+1:]...), x)
		if n := len(x.idle); n > 0 {
			w := x.idle[n-1]
			x.idle = x.idle[:n-1]
			return x, w, nil
		}
		return x, x.newWork(), nil
	}
	newWork, err := k.open(b.Common)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errOtherProgram, err)
	}
	x := &set{of: of, newWork: newWork}
	if s.opened = append(s.opened, x); len(s.opened) > maxOpened {
		s.opened = s.opened[1:]
	}
	return x, newWork(), nil
}
