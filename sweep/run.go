package sweep

import (
	"context"
	"fmt"
	"slices"

	"redlocksim/internal/jobs"
	"redlocksim/reach"
)

// Chart is what a sweep found.
type Chart struct {
	Name string `json:"name"`
	// Axes are as in the Spec, with the values as words.
	Axes []ChartAxis `json:"axes"`
	// Schedules are the names of those that were run.
	Schedules []string `json:"schedules"`
	Seed      uint64   `json:"seed"`
	// Cells are the points, the last axis varying the fastest; after a bisection, the two on either side of each frontier.
	Cells []Cell `json:"cells"`
	// Along is the path of the axis of the frontier.
	Along string `json:"frontier_along"`
	// Bisected says that Frontier is finer than the values of the axis.
	Bisected bool  `json:"bisected"`
	Frontier []Row `json:"frontier"`
	// Partial says that the sweep was interrupted: cells and rows are missing.
	Partial bool `json:"partial"`
	// Tally is what the runs of all points reached, of a bisection's too.
	reach.Tally
}

// ChartAxis is an axis of a Chart.
type ChartAxis struct {
	Path   string   `json:"path"`
	Unit   Unit     `json:"unit"`
	Values []string `json:"values"`
}

// Run makes a sweep. When ctx ends early, the chart has what was done by then, and says that it is partial. An error is of
// the kind that Check returns, or an internal one.
func Run(ctx context.Context, s Spec) (*Chart, error) {
	if err := s.Check(); err != nil {
		return nil, &SpecError{err}
	}
	chart := &Chart{Name: s.Name, Along: s.Axes[s.along()].Path, Bisected: s.Bisect, Seed: s.Seed, Cells: []Cell{}, Frontier: []Row{}}
	for _, a := range s.Axes {
		axis := ChartAxis{Path: a.Path, Unit: a.unit()}
		for _, v := range a.Values {
			axis.Values = append(axis.Values, v.Word)
		}
		chart.Axes = append(chart.Axes, axis)
	}
	for _, x := range s.Schedules {
		chart.Schedules = append(chart.Schedules, x.Name)
	}
	g := &gathering{}
	s.gather = g
	var err error
	if s.Bisect {
		err = s.bisectAll(ctx, chart)
	} else {
		err = s.grid(ctx, chart)
	}
	if err != nil {
		return nil, err
	}
	if len(chart.Cells) > 0 && !slices.ContainsFunc(chart.Cells, func(c Cell) bool { return c.Invalid == "" }) {
		return nil, &SpecError{fmt.Errorf("no point has settings that can be run: %s", chart.Cells[0].Invalid)}
	}
	chart.Tally, err = g.reached()
	return chart, err
}

// grid runs every point.
func (s *Spec) grid(ctx context.Context, chart *Chart) error {
	points := combinations(s.Axes)
	results, err := jobs.Set[struct{}, Cell]{N: len(points), Workers: s.Jobs,
		Do:   func(ctx context.Context, _ *struct{}, i int) (Cell, error) { return s.cell(ctx, points[i]) },
		Name: func(i int) string { return fmt.Sprint("point ", words(points[i])) },
	}.Run(ctx)
	if err != nil {
		return err
	}
	for _, r := range results {
		if r.Done {
			chart.Cells = append(chart.Cells, r.Value)
		} else {
			chart.Partial = true
		}
	}
	return s.gridFrontier(chart, points, results)
}
