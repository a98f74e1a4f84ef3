package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// Served is a kind of job that a worker does for others.
type Served interface {
	name() string
	// open reads what the jobs of a set share, and returns what makes workers for them.
	open(ctx context.Context, common []byte, fetch Fetch) (func() work, error)
}

// work does one job after the other, and says what came of it. The error is that of a job that was cut short.
type work func(ctx context.Context, input []byte) (came []byte, failed bool, err error)

func (k Kind[C, S, I, O]) name() string { return k.Name }

func (k Kind[C, S, I, O]) open(ctx context.Context, packed []byte, fetch Fetch) (func() work, error) {
	common, err := safely(func() string { return "what the jobs share" }, func() (C, error) { return k.Unpack(ctx, packed, fetch) })
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
			output, err := safely(func() string { return k.Name }, func() (O, error) { return k.Do(ctx, common, &state, input) })
			if ctx.Err() != nil {
				return nil, false, context.Cause(ctx)
			}
			came, encodeErr := k.encode(output, err)
			return came, err != nil, encodeErr
		}
	}, nil
}

// Server does batches of jobs of the kinds that it knows, any number at once. It keeps what the jobs of the last few sets
// share.
type Server struct {
	fetch Fetch
	kinds map[string]Served

	mu   sync.Mutex
	sets []*set // the last used comes last
}

// set is what jobs share, and workers that have nothing to do.
type set struct {
	of   [sha256.Size]byte
	idle sync.Pool

	mu      sync.Mutex
	newWork func() work // nil until the set is opened
}

// take gives a worker. The first opens the set, for which the others wait; one that cannot leaves it to the next.
func (x *set) take(open func() (func() work, error)) (work, error) {
	if w, isIdle := x.idle.Get().(work); isIdle {
		return w, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.newWork == nil {
		var err error
		if x.newWork, err = open(); err != nil {
			return nil, err
		}
	}
	return x.newWork(), nil
}

// maxSets bounds the sets that a server keeps: a step of a search has few, and one machine serves few searches.
const maxSets = 16

// NewServer is a server for kinds of jobs, which fetch is to get the files for.
func NewServer(fetch Fetch, kinds ...Served) *Server {
	s := &Server{fetch: fetch, kinds: map[string]Served{}}
	for _, k := range kinds {
		s.kinds[k.name()] = k
	}
	return s
}

// Do does the jobs of a batch one after the other, up to the first that fails, and returns what came of each. The error is that
// of a batch that is none of this program's, of a file that cannot be fetched or used, or of ctx.
func (s *Server) Do(ctx context.Context, b Batch) (outcomes [][]byte, err error) {
	k, ok := s.kinds[b.Kind]
	if !ok {
		return nil, fmt.Errorf("%w: there are no jobs of kind %q", errOtherProgram, b.Kind)
	}
	x := s.find(b)
	w, err := x.take(func() (func() work, error) { return k.open(ctx, b.Common, s.fetch) })
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
	x.idle.Put(w)
	return outcomes, nil
}

// find is the set of a batch, which may be new.
func (s *Server) find(b Batch) *set {
	of := sha256.Sum256(append([]byte(b.Kind+"\n"), b.Common...))
	s.mu.Lock()
	defer s.mu.Unlock()
	x := &set{of: of}
	if i := slices.IndexFunc(s.sets, func(x *set) bool { return x.of == of }); i >= 0 {
		x = s.sets[i]
		s.sets = slices.Delete(s.sets, i, i+1)
	}
	if s.sets = append(s.sets, x); len(s.sets) > maxSets {
		s.sets = s.sets[1:]
	}
	return x
}
