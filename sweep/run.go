package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"redlocksim/internal/jobs"
	"redlocksim/reach"
)

// Spec is a sweep.
type Spec struct {
	// Name is a title.
	Name string
	Base Base
	// Axes are the settings that vary, the outermost first. The last two are those of a map.
	Axes []Axis
	// Schedules are run at every point.
	Schedules []Schedule
	// Frontier is the path of the axis along which to look for the frontier; if empty, the last one.
	Frontier string
	// Bisect finds only the frontier, with few runs: to the millisecond, the millionth or the unit. The axis must have
	// quantities, the lowest and highest of which bound the search.
	Bisect bool
	// Random is how many random experiments are run at each point.
	Random int
	// Seed decides what they are.
	Seed uint64
	// Jobs is the number of points run in parallel; 0 is one per core. It changes no result.
	Jobs int

	gather *gathering // of the sweep under way
}

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

// Check says what is wrong with a sweep before anything is run. An error names the axis.
func (s *Spec) Check() error {
	points := 1
	for i, a := range s.Axes {
		if slices.ContainsFunc(s.Axes[:i], func(b Axis) bool { return b.Path == a.Path }) {
			return fmt.Errorf("axis %s: it is given twice", a.Path)
		}
		if len(a.Values) == 0 {
			return fmt.Errorf("axis %s: no values", a.Path)
		}
		points *= len(a.Values)
		if points > maxPoints {
			return fmt.Errorf("axis %s: the sweep would have more than %d points, which is the limit", a.Path, maxPoints)
		}
		if err := s.checkAxis(a); err != nil {
			return err
		}
	}
	switch {
	case len(s.Axes) == 0:
		return errors.New("a sweep has at least one axis, as lock.ttl=1s,2s,5s")
	case s.Random < 0:
		return fmt.Errorf("%d random experiments: the number must not be negative", s.Random)
	case len(s.Schedules) == 0:
		return errors.New("no schedules to run")
	}
	if runs := s.Random + len(s.Schedules); runs > MaxRuns/points {
		return fmt.Errorf("%d runs at each of %d points are more than %d, which is the limit", runs, points, MaxRuns)
	}
	along := s.along()
	if along < 0 {
		var paths []string
		for _, a := range s.Axes {
			paths = append(paths, a.Path)
		}
		return fmt.Errorf("frontier: %w", unknown("axis", s.Frontier, paths...))
	}
	if a := s.Axes[along]; s.Bisect && (a.unit() == "" || len(a.Values) < 2) {
		return fmt.Errorf("axis %s: a frontier needs at least two quantities of the same unit", a.Path)
	}
	return nil
}

// manyValues is how many values of an axis are checked before anything is run; the rest are when their turn comes.
const manyValues = 200

// checkAxis says whether there is such a setting, and whether it can have the values; of very many, the ends. Where the
// protocol is an axis, too, it is enough that one of the protocols can.
func (s *Spec) checkAxis(a Axis) error {
	locks := [][]Setting{nil}
	for _, b := range s.Axes {
		if b.Path != a.Path && (b.Path == "lock.protocol" || b.Path == "lock.preset") {
			locks = nil
			for _, v := range b.Values {
				locks = append(locks, []Setting{{b.Path, v.Word}})
			}
		}
	}
	for i, v := range a.Values {
		if i >= manyValues && i < len(a.Values)-1 {
			continue
		}
		var err error
		for _, lock := range locks {
			if _, err = s.settings(append(lock, Setting{a.Path, v.Word})); err == nil || errors.As(err, new(*combinationError)) {
				err = nil
				break
			}
		}
		if err != nil {
			return fmt.Errorf("axis %w", located(err, a.Path, v.Word))
		}
	}
	return nil
}

// located puts the axis before an error that does not name it.
func located(err error, path, word string) error {
	if strings.HasPrefix(err.Error(), path+"=") {
		return err
	}
	return fmt.Errorf("%s=%s: %w", path, word, err)
}

// along is the number of the frontier's axis.
func (s *Spec) along() int {
	if s.Frontier == "" {
		return len(s.Axes) - 1
	}
	return slices.IndexFunc(s.Axes, func(a Axis) bool { return a.Path == s.Frontier })
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

// SpecError is a sweep that makes no sense.
type SpecError struct{ Err error }

func (e *SpecError) Error() string { return e.Err.Error() }

// Unwrap gives what is wrong.
func (e *SpecError) Unwrap() error { return e.Err }

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

// combinations are the points of some axes, the last varying the fastest.
func combinations(axes []Axis) [][]Setting {
	points := [][]Setting{nil}
	for _, a := range axes {
		var longer [][]Setting
		for _, p := range points {
			for _, v := range a.Values {
				longer = append(longer, append(slices.Clip(p), Setting{a.Path, v.Word}))
			}
		}
		points = longer
	}
	return points
}
