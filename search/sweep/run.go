package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"redlocksim/internal/jobs"
	"redlocksim/internal/printable"
	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
	"redlocksim/scenarios/variant"
	"redlocksim/search"
)

// Run makes a sweep. When ctx ends early, the chart has what was done by then, and says that it is partial. A run that fails
// is one of the chart's Failures, and leaves its point not tested. An error is of the kind that Check returns, or an internal
// one.
func Run(ctx context.Context, s Spec) (*Chart, error) {
	if err := s.Check(); err != nil {
		return nil, &SpecError{err}
	}
	chart, err := s.blank()
	if err != nil {
		return nil, err
	}
	at := points(s.Axes)
	if s.Bisect {
		at = points(s.others())
	}
	parts, err := kind.Run(ctx, jobs.Place{Workers: s.Jobs, Elsewhere: s.Elsewhere}, &s, at, func(_ int, p part) error {
		if p.Wrong != "" {
			return &SpecError{errors.New(printable.Lines(printable.Short(p.Wrong, maxWrong)))}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	chart.NoEffects = true // the map shows what faults do
	for i := range parts {
		p := &parts[i].Value
		chart.Partial = chart.Partial || !parts[i].Done
		if chart.Cells = append(chart.Cells, p.Cells...); p.Row != nil {
			chart.Frontier = append(chart.Frontier, *p.Row)
		}
		chart.Tally.Merge(p.Tally)
		chart.Include(p.Failures)
	}
	if !s.Bisect {
		s.frontier(chart)
	}
	if len(chart.Cells) > 0 && !slices.ContainsFunc(chart.Cells, func(c Cell) bool { return c.Invalid == "" }) {
		return nil, &SpecError{fmt.Errorf("no point has settings that can be run: %s", chart.Cells[0].Invalid)}
	}
	return chart, nil
}

// blank is the chart without what was found.
func (s *Spec) blank() (*Chart, error) {
	c := &Chart{Name: s.Name, Along: s.along().Path, Bisected: s.Bisect, Cells: []Cell{}, Frontier: []Row{}}
	if s.Foreign != nil {
		c.Lock = s.Foreign.Name
	}
	for _, a := range s.Axes {
		if c.Axes = append(c.Axes, a.chart()); s.Yours != nil {
			c.Yours = append(c.Yours, a.yours(*s.Yours))
		}
	}
	all, err := s.attacks()
	for _, a := range all {
		c.Schedules = append(c.Schedules, a.Name)
	}
	return c, err
}

// yours is the value that settings have on the axis: that with which they are the same, which can be a default, or else what
// they say themselves. It is empty if they say nothing that is a single value.
func (a Axis) yours(f variant.File) string {
	for _, v := range a.Values {
		if changed, err := f.With(variant.Setting{Path: a.Path, Word: v.Word}); err == nil && variant.Same(f, changed) {
			return v.Word
		}
	}
	return f.Word(a.Path)
}

// part is a job of a sweep: a point of a grid, or the frontier at a combination of the other axes. It depends on no other, and
// is the same wherever it is done.
type part struct {
	Cells    []Cell
	Row      *Row
	Tally    reach.Tally
	Failures search.Failures
	// Wrong says that the sweep makes no sense there, and why; empty if it does.
	Wrong string
}

// maxWrong bounds what is printed of a worker's reason, in bytes.
const maxWrong = 64 << 10

var kind = jobs.Kind[*Spec, struct{}, []variant.Setting, part]{Name: "sweep", Pack: (*Spec).pack,
	Title: func(at []variant.Setting) string { return fmt.Sprint("sweep at ", words(at)) },
	Files: func(s *Spec) []jobs.File { return s.Foreign.Files() }, Errors: []error{context.Canceled},
	Check: func(_ *Spec, _ []variant.Setting, p part) error { return p.Failures.Check() },
	Do: func(ctx context.Context, s *Spec, _ *struct{}, at []variant.Setting) (p part, err error) {
		if s.Bisect {
			err = s.bisect(ctx, at, &p)
		} else {
			p.Cells = make([]Cell, 1)
			p.Cells[0], err = s.cell(at, &p)
		}
		if wrong := (*SpecError)(nil); errors.As(err, &wrong) {
			return part{Wrong: wrong.Error()}, nil
		}
		return p, err
	}}

// Jobs are what a sweep gives to workers, which load lock programs with load.
func Jobs(load scenarios.Loader) []jobs.Served {
	served := kind
	served.Unpack = func(ctx context.Context, data []byte, fetch jobs.Fetch) (*Spec, error) {
		var p packed
		err := json.Unmarshal(data, &p)
		if err == nil && p.Lock != nil {
			p.Foreign, err = load(ctx, p.Lock, fetch)
		}
		if err != nil {
			return nil, err
		}
		return &p.Spec, p.Check()
	}
	return []jobs.Served{served}
}

// packed is what the jobs of a sweep share, on its way to a worker.
type packed struct {
	Spec
	Lock *scenarios.Module // nil if it is the protocol of Base
}

func (s *Spec) pack() ([]byte, error) {
	lock, err := s.Foreign.Portable()
	if err != nil {
		return nil, err
	}
	return json.Marshal(packed{*s, lock})
}
