package sweep

import (
	"context"
	"fmt"
	"slices"
	"time"

	"redlocksim/internal/jobs"
)

var cellJobs = kindOf("point", func(at []Setting) string { return fmt.Sprint("point ", words(at)) },
	func(ctx context.Context, s *Spec, at []Setting, seen *survey) (timed, error) {
		c, err := s.cell(ctx, at, seen)
		return timed{c, c.took}, err
	})

// timed is a cell with what its JSON form leaves out.
type timed struct {
	Cell Cell
	Took map[string]time.Duration
}

func (t *timed) cell() Cell {
	t.Cell.took = t.Took
	return t.Cell
}

// grid runs every point.
func (s *Spec) grid(ctx context.Context, chart *Chart, seen *survey) error {
	all := points(s.Axes)
	ran, err := run(ctx, s, cellJobs, all, seen)
	if err != nil {
		return err
	}
	results := make([]jobs.Result[Cell], len(ran))
	for i := range ran {
		results[i] = jobs.Result[Cell]{Value: ran[i].Value.cell(), Done: ran[i].Done}
	}
	for _, r := range results {
		if r.Done {
			chart.Cells = append(chart.Cells, r.Value)
		} else {
			chart.Partial = true
		}
	}
	s.gridFrontier(chart, all, results)
	return nil
}

// gridFrontier reads the frontier off the points of a grid.
func (s *Spec) gridFrontier(chart *Chart, all [][]Setting, cells []jobs.Result[Cell]) {
	along := s.along()
	axis := s.Axes[along]
	if axis.unit() == "" {
		return
	}
	others := slices.Delete(slices.Clone(s.Axes), along, along+1)
	for _, at := range points(others) {
		var line []probe
		complete := true
		for i, p := range all {
			if !slices.Equal(without(p, along), at) {
				continue
			}
			switch v := axis.Values[slices.IndexFunc(axis.Values, func(v Value) bool { return v.Word == p[along].Word })]; {
			case !cells[i].Done:
				complete = false
			case cells[i].Value.Invalid == "":
				line = append(line, probe{v, &cells[i].Value})
			}
		}
		if !complete || len(line) == 0 {
			continue
		}
		slices.SortStableFunc(line, func(a, b probe) int { return a.value.Number.Cmp(b.value.Number) })
		tested := slices.DeleteFunc(slices.Clone(line), func(p probe) bool { return p.cell.Untested() })
		safe, broken, changes := sides(tested)
		r := s.row(at, axis.Path, safe, broken, line)
		if changes > 1 {
			r.Note = "the lock breaks, holds and breaks again along the axis; only the last change is shown"
		}
		chart.Frontier = append(chart.Frontier, r)
	}
}

// sides are the neighbours at the last change between safe and broken along a line, and the number of changes.
func sides(line []probe) (safe, broken *probe, changes int) {
	for i := 1; i < len(line); i++ {
		if a, b := &line[i-1], &line[i]; a.broken() != b.broken() {
			changes++
			if safe, broken = a, b; a.broken() {
				safe, broken = b, a
			}
		}
	}
	if changes > 0 || len(line) == 0 {
		return safe, broken, changes
	}
	if first, last := &line[0], &line[len(line)-1]; first.broken() {
		broken = last
	} else {
		safe = first
	}
	return safe, broken, 0
}

func without(p []Setting, i int) []Setting { return slices.Delete(slices.Clone(p), i, i+1) }
