package sweep

import (
	"context"
	"fmt"
	"slices"
)

// Run makes a sweep. When ctx ends early, the chart has what was done by then, and says that it is partial. A run that fails
// is one of the chart's Failures, and leaves its point not tested. An error is of the kind that Check returns, or an internal
// one.
func Run(ctx context.Context, s Spec) (*Chart, error) {
	if err := s.Check(); err != nil {
		return nil, &SpecError{err}
	}
	chart := &Chart{Name: s.Name, Along: s.Axes[s.along()].Path, Bisected: s.Bisect, Seed: s.Seed, Cells: []Cell{}, Frontier: []Row{}}
	if s.Foreign != nil {
		chart.Lock = s.Foreign.Name
	}
	for _, a := range s.Axes {
		axis := ChartAxis{Path: a.Path, Unit: a.unit()}
		for _, v := range a.Values {
			axis.Values = append(axis.Values, v.Word)
		}
		chart.Axes = append(chart.Axes, axis)
		if s.Yours != nil {
			chart.Yours = append(chart.Yours, s.Yours.on(a))
		}
	}
	for _, x := range s.Schedules {
		chart.Schedules = append(chart.Schedules, x.Name)
	}
	var seen survey
	var err error
	if s.Bisect {
		err = s.bisectAll(ctx, chart, &seen)
	} else {
		err = s.grid(ctx, chart, &seen)
	}
	if err != nil {
		return nil, err
	}
	if len(chart.Cells) > 0 && !slices.ContainsFunc(chart.Cells, func(c Cell) bool { return c.Invalid == "" }) {
		return nil, &SpecError{fmt.Errorf("no point has settings that can be run: %s", chart.Cells[0].Invalid)}
	}
	chart.Tally = seen.reached(s.Repeat)
	chart.Failures = seen.Failures
	return chart, nil
}
