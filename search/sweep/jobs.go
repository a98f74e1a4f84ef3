package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/jobs"
	"redlocksim/internal/printable"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
)

// The points of a grid do not depend on each other, and neither do the frontiers at different combinations of the other axes:
// each is a job, and the same wherever it is done.

// packed is what the jobs of a sweep share, on its way to a worker.
type packed struct {
	Base      string // as YAML
	Whole     bool
	Axes      []Axis
	Schedules []string
	Frontier  string
	Random    int
	Seed      uint64
	Repeat    string
	Lock      *scenarios.Module // nil if it is the protocol of Base
}

func (s *Spec) pack() ([]byte, error) {
	lock, err := s.Foreign.Portable()
	if err != nil {
		return nil, err
	}
	base, err := yaml.Marshal(s.Base.root)
	if err != nil {
		return nil, err
	}
	p := packed{Base: string(base), Whole: s.Base.whole, Axes: s.Axes, Frontier: s.Frontier, Random: s.Random, Seed: s.Seed,
		Repeat: s.Repeat, Lock: lock}
	for _, x := range s.Schedules {
		p.Schedules = append(p.Schedules, x.Name)
	}
	return json.Marshal(p)
}

func unpack(ctx context.Context, data []byte, fetch jobs.Fetch, load scenarios.Loader) (*Spec, error) {
	var p packed
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, err
	}
	var document yaml.Node
	if len(p.Base) > strictyaml.MaxBytes {
		return nil, fmt.Errorf("settings of %d bytes, more than %d", len(p.Base), strictyaml.MaxBytes)
	}
	if err := yaml.Unmarshal([]byte(p.Base), &document); err != nil {
		return nil, err
	}
	if len(document.Content) == 0 {
		return nil, errors.New("no settings")
	}
	s := &Spec{Base: Base{root: document.Content[0], whole: p.Whole}, Axes: p.Axes, Frontier: p.Frontier, Random: p.Random, Seed: p.Seed,
		Repeat: p.Repeat}
	var err error
	if p.Lock != nil {
		if s.Foreign, err = load(ctx, p.Lock, fetch); err != nil {
			return nil, err
		}
	}
	if p.Whole {
		s.Schedules = []Schedule{Timeline()}
	} else if s.Schedules, err = FindSchedules(p.Schedules...); err != nil {
		return nil, err
	}
	return s, s.Check()
}

// maxWrong bounds what is printed of a worker's reason, in bytes.
const maxWrong = 64 << 10

// done is what a job found, and what its runs reached.
type done[T any] struct {
	Found T
	Seen  survey
	// Wrong says that the sweep makes no sense there, and why; empty if it does.
	Wrong string
}

func kindOf[T any](name string, title func([]Setting) string, do func(ctx context.Context, s *Spec, at []Setting, seen *survey) (T, error)) jobs.Kind[*Spec, struct{}, []Setting, done[T]] {
	return jobs.Kind[*Spec, struct{}, []Setting, done[T]]{Name: "sweep-" + name, Title: title, Pack: (*Spec).pack,
		Files: func(s *Spec) []jobs.File { return s.Foreign.Files() }, Errors: []error{context.Canceled},
		Check: func(_ *Spec, _ []Setting, d done[T]) error {
			for i := range d.Seen.Failures.Failures {
				if err := d.Seen.Failures.Failures[i].Check(); err != nil {
					return err
				}
			}
			return nil
		},
		Do: func(ctx context.Context, s *Spec, _ *struct{}, at []Setting) (d done[T], err error) {
			d.Found, err = do(ctx, s, at, &d.Seen)
			if wrong := (*SpecError)(nil); errors.As(err, &wrong) {
				return done[T]{Wrong: wrong.Error()}, nil
			}
			return d, err
		}}
}

// served is a kind of job as a worker does it.
func served[T any](k jobs.Kind[*Spec, struct{}, []Setting, done[T]], load scenarios.Loader) jobs.Served {
	k.Unpack = func(ctx context.Context, packed []byte, fetch jobs.Fetch) (*Spec, error) {
		return unpack(ctx, packed, fetch, load)
	}
	return k
}

// run does a job at each of some points, and adds up what their runs reached.
func run[T any](ctx context.Context, s *Spec, kind jobs.Kind[*Spec, struct{}, []Setting, done[T]], at [][]Setting, seen *survey) ([]jobs.Result[T], error) {
	all, err := kind.Run(ctx, jobs.Place{Workers: s.Jobs, Elsewhere: s.Elsewhere}, s, at, func(_ int, d done[T]) error {
		if d.Wrong != "" {
			return &SpecError{errors.New(printable.Lines(printable.Short(d.Wrong, maxWrong)))}
		}
		return nil
	})
	results := make([]jobs.Result[T], len(all))
	for i, r := range all {
		results[i] = jobs.Result[T]{Value: r.Value.Found, Done: r.Done}
		seen.merge(&r.Value.Seen)
	}
	return results, err
}
