package sweep

import (
	"context"
	"encoding/json"
	"errors"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/jobs"
	"redlocksim/sim/kernel"
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
}

// errNotForWorkers says that a sweep can be made here alone.
var errNotForWorkers = errors.New("workers do not have the lock program")

func (s *Spec) pack() ([]byte, error) {
	if s.Foreign != nil {
		return nil, errNotForWorkers
	}
	base, err := yaml.Marshal(s.Base.root)
	if err != nil {
		return nil, err
	}
	p := packed{Base: string(base), Whole: s.Base.whole, Axes: s.Axes, Frontier: s.Frontier, Random: s.Random, Seed: s.Seed}
	for _, x := range s.Schedules {
		p.Schedules = append(p.Schedules, x.Name)
	}
	return json.Marshal(p)
}

func unpack(data []byte) (*Spec, error) {
	var p packed
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(p.Base), &document); err != nil {
		return nil, err
	}
	s := &Spec{Base: Base{root: document.Content[0], whole: p.Whole}, Axes: p.Axes, Frontier: p.Frontier, Random: p.Random, Seed: p.Seed}
	if p.Whole {
		s.Schedules = []Schedule{Timeline()}
		return s, nil
	}
	var err error
	s.Schedules, err = FindSchedules(p.Schedules...)
	return s, err
}

// done is what a job found, and what its runs reached.
type done[T any] struct {
	Found T
	Seen  survey
	// Wrong says that the sweep makes no sense there, and why; empty if it does.
	Wrong string
}

func kindOf[T any](name string, title func([]Setting) string, do func(ctx context.Context, s *Spec, at []Setting, seen *survey) (T, error)) jobs.Kind[*Spec, struct{}, []Setting, done[T]] {
	return jobs.Kind[*Spec, struct{}, []Setting, done[T]]{Name: "sweep-" + name, Title: title, Pack: (*Spec).pack, Unpack: unpack,
		Errors: []error{kernel.ErrTooLong, context.Canceled},
		Do: func(ctx context.Context, s *Spec, _ *struct{}, at []Setting) (d done[T], err error) {
			d.Found, err = do(ctx, s, at, &d.Seen)
			if wrong := (*SpecError)(nil); errors.As(err, &wrong) {
				return done[T]{Wrong: wrong.Error()}, nil
			}
			return d, err
		}}
}

// run does a job at each of some points, and adds up what their runs reached.
func run[T any](ctx context.Context, s *Spec, kind jobs.Kind[*Spec, struct{}, []Setting, done[T]], at [][]Setting, seen *survey) ([]jobs.Result[T], error) {
	all, err := kind.Run(ctx, jobs.Place{Workers: s.Jobs, Elsewhere: s.Elsewhere}, s, at, func(_ int, d done[T]) error {
		if d.Wrong != "" {
			return &SpecError{errors.New(d.Wrong)}
		}
		seen.merge(&d.Seen)
		return nil
	})
	results := make([]jobs.Result[T], len(all))
	for i, r := range all {
		results[i] = jobs.Result[T]{Value: r.Value.Found, Done: r.Done}
	}
	return results, err
}
