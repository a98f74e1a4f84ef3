package sweep

import (
	"context"
	"fmt"
	"slices"

	"github.com/shopspring/decimal"
)

var frontierJobs = kindOf("frontier", func(at []Setting) string { return fmt.Sprint("frontier at ", words(at)) },
	func(ctx context.Context, s *Spec, at []Setting, seen *survey) (frontier, error) {
		return s.bisect(ctx, at, seen)
	})

// bisectAll looks for the frontier at every combination of the other axes.
func (s *Spec) bisectAll(ctx context.Context, chart *Chart, seen *survey) error {
	along := s.along()
	at := points(slices.Delete(slices.Clone(s.Axes), along, along+1))
	results, err := run(ctx, s, frontierJobs, at, seen)
	if err != nil {
		return err
	}
	for _, r := range results {
		if !r.Done {
			chart.Partial = true
			continue
		}
		chart.Frontier = append(chart.Frontier, r.Value.Row)
		chart.Cells = append(chart.Cells, r.Value.Sides...)
	}
	return nil
}

// frontier is where it lies at a combination of the other axes, and the cells on either side.
type frontier struct {
	Row   Row
	Sides []Cell
}

// bisect finds the frontier between the lowest and the highest value of an axis that the protocol takes, in steps of the
// resolution. It assumes a single change.
func (s *Spec) bisect(ctx context.Context, at []Setting, seen *survey) (frontier, error) {
	along := s.along()
	axis := s.Axes[along]
	unit := axis.unit()
	low, high, why := s.extremes(at, axis, along)
	if why != "" {
		return frontier{Row: Row{At: words(at), Note: "cannot be run: " + why}}, nil
	}
	step := unit.Step()
	steps, _ := high.Sub(low).QuoRem(step, 0)
	cells := map[int64]Cell{}
	var tried []probe
	look := func(i int64) (*probe, error) {
		if err := ctx.Err(); err != nil {
			return nil, context.Canceled
		}
		v := quantity(unit, low.Add(step.Mul(number(i))))
		point := slices.Insert(slices.Clone(at), along, Setting{axis.Path, v.Word})
		c, err := s.cell(ctx, point, seen)
		if err == nil && c.Invalid != "" {
			err = fmt.Errorf("sweep: the lock takes the ends of axis %s, and not %s: %s", axis.Path, v.Word, c.Invalid)
		}
		cells[i] = c
		p := probe{v, &c}
		tried = append(tried, p)
		return &p, err
	}
	first, last := int64(0), steps.IntPart()
	a, b, err := ends(look, &first, &last)
	if err != nil {
		return frontier{}, err
	}
	row := func(safe, broken *probe) Row { return s.row(at, axis.Path, safe, broken, tried) }
	switch {
	case a.cell.Untested() && b.cell.Untested():
		return frontier{row(nil, nil), []Cell{cells[first], cells[last]}}, nil
	case a.cell.Untested():
		a = b
	case b.cell.Untested():
		b = a
	}
	switch {
	case a.broken() && b.broken():
		return frontier{row(nil, b), []Cell{cells[last]}}, nil
	case !a.broken() && !b.broken():
		return frontier{row(a, nil), []Cell{cells[first]}}, nil
	case a.broken():
		return frontier{row(b, a), []Cell{cells[first], cells[last]}}, nil
	}
	return frontier{row(a, b), []Cell{cells[first], cells[last]}}, nil
}

// extremes are the lowest and the highest value of an axis that the protocol takes; if it takes none, why says why not.
func (s *Spec) extremes(at []Setting, axis Axis, along int) (low, high decimal.Decimal, why string) {
	some := false
	for _, v := range axis.Values {
		_, err := s.settings(slices.Insert(slices.Clone(at), along, Setting{axis.Path, v.Word}))
		switch {
		case err != nil:
			why = err.Error()
		case !some:
			low, high, some = v.Number, v.Number, true
		default:
			low, high = decimal.Min(low, v.Number), decimal.Max(high, v.Number)
		}
	}
	if some {
		why = ""
	}
	return low, high, why
}

// ends moves first and last together until they are neighbours on different sides, or on the same side from the start. An
// end that is not tested is moved to where the lock is tested first.
func ends(look func(int64) (*probe, error), first, last *int64) (a, b *probe, err error) {
	if a, err = look(*first); err != nil {
		return nil, nil, err
	}
	if b, err = look(*last); err != nil {
		return nil, nil, err
	}
	if a.cell.Untested() != b.cell.Untested() {
		if a, b, err = testable(look, first, last, a, b); err != nil {
			return nil, nil, err
		}
	}
	for a.broken() != b.broken() && !a.cell.Untested() && !b.cell.Untested() && *last-*first > 1 {
		at := *first + (*last-*first)/2
		middle, err := look(at)
		switch {
		case err != nil:
			return nil, nil, err
		case middle.cell.Untested():
			return middle, middle, nil
		case middle.broken() == a.broken():
			a, *first = middle, at
		default:
			b, *last = middle, at
		}
	}
	return a, b, nil
}

// testable moves the end that is not tested to the last value, seen from the other end, that is.
func testable(look func(int64) (*probe, error), first, last *int64, a, b *probe) (*probe, *probe, error) {
	good, bad, edge := *first, *last, a
	if a.cell.Untested() {
		good, bad, edge = *last, *first, b
	}
	for good-bad > 1 || bad-good > 1 {
		at := good + (bad-good)/2
		middle, err := look(at)
		if err != nil {
			return nil, nil, err
		}
		if middle.cell.Untested() {
			bad = at
		} else {
			good, edge = at, middle
		}
	}
	if a.cell.Untested() {
		*first = good
		return edge, b, nil
	}
	*last = good
	return a, edge, nil
}
