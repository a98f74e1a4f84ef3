package sweep

import (
	"context"
	"fmt"
	"slices"

	"github.com/shopspring/decimal"
)

// Row is the frontier along one axis at one combination of values of the others.
type Row struct {
	// At is the values of the other axes, as words, in their order.
	At []string `json:"at"`
	// Safe and Broken are the neighbours on either side of the frontier; one is empty where all values are on one side.
	Safe   string `json:"safe"`
	Broken string `json:"broken"`
	// Formula is what the arithmetic gives, exactly; empty where no schedule has one for this axis.
	Formula string `json:"formula"`
	// Difference is the formula taken from Safe: less than one step of the axis where they agree.
	Difference string `json:"difference"`
	// Agrees says whether the formula lies between the two, or beyond all values on the right side; nil without a formula.
	Agrees *bool `json:"agrees"`
	// Note is what else is to be said.
	Note string `json:"note,omitempty"`
}

// probe is a value on the frontier's axis, and what was found there.
type probe struct {
	value  Value
	broken bool
}

// row makes a row of the two neighbours; either can be nil.
func (s *Spec) row(at []Setting, path string, safe, broken *probe) Row {
	r := Row{At: words(at)}
	if safe != nil {
		r.Safe = safe.value.Word
	} else {
		r.Note = "broken everywhere on the axis"
	}
	if broken != nil {
		r.Broken = broken.value.Word
	} else {
		r.Note = "safe everywhere on the axis"
	}
	s.compare(&r, at, path, safe, broken)
	return r
}

// compare says what the formula gives.
func (s *Spec) compare(r *Row, at []Setting, path string, safe, broken *probe) {
	knob := s.knob(path)
	if knob == nil {
		return
	}
	// Formulas do not look at their own setting; that of a neighbour is one which the protocol takes.
	some := safe
	if some == nil {
		some = broken
	}
	settings, err := s.settings(append(slices.Clip(at), Setting{path, some.value.Word}))
	if err != nil || some.value.Unit != knob.Unit {
		return
	}
	f := knob.Formula(settings)
	r.Formula = knob.Unit.word(f)
	// Larger values are the safe ones, unless the neighbours say otherwise.
	grows := safe == nil || broken == nil || safe.value.Number.GreaterThan(broken.value.Number)
	agrees := true
	beyond := func(v decimal.Decimal) bool { // the formula has it on the safe side
		if grows {
			return v.GreaterThanOrEqual(f)
		}
		return v.LessThanOrEqual(f)
	}
	if safe != nil {
		r.Difference = knob.Unit.word(safe.value.Number.Sub(f))
		agrees = beyond(safe.value.Number)
	}
	if broken != nil && beyond(broken.value.Number) {
		agrees = false
	}
	r.Agrees = &agrees
}

// knob is the formula for a setting, if exactly one of the schedules has one.
func (s *Spec) knob(path string) *Knob {
	var found *Knob
	for i := range s.Schedules {
		for j := range s.Schedules[i].Knobs {
			if k := &s.Schedules[i].Knobs[j]; k.Path == path {
				found = k
			}
		}
	}
	return found
}

func words(at []Setting) []string {
	all := []string{}
	for _, a := range at {
		all = append(all, a.Word)
	}
	return all
}

// gridFrontier reads the frontier off the points of a grid.
func (s *Spec) gridFrontier(chart *Chart, points [][]Setting, cells []Cell, done []bool) error {
	along := s.along()
	axis := s.Axes[along]
	if axis.unit() == "" {
		return nil
	}
	others := slices.Delete(slices.Clone(s.Axes), along, along+1)
	for _, at := range combinations(others) {
		var line []probe
		complete := true
		for i, p := range points {
			if !slices.Equal(without(p, along), at) {
				continue
			}
			switch v := axis.Values[slices.IndexFunc(axis.Values, func(v Value) bool { return v.Word == p[along].Word })]; {
			case !done[i]:
				complete = false
			case cells[i].Invalid == "":
				line = append(line, probe{v, cells[i].Broken()})
			}
		}
		if !complete || len(line) == 0 {
			continue
		}
		slices.SortStableFunc(line, func(a, b probe) int { return a.value.Number.Cmp(b.value.Number) })
		var safe, broken *probe
		changes := 0
		for i := 1; i < len(line); i++ {
			if a, b := &line[i-1], &line[i]; a.broken != b.broken {
				changes++
				if safe, broken = a, b; a.broken {
					safe, broken = b, a
				}
			}
		}
		switch first, last := &line[0], &line[len(line)-1]; {
		case changes == 0 && first.broken:
			broken = last
		case changes == 0:
			safe = first
		}
		r := s.row(at, axis.Path, safe, broken)
		if changes > 1 {
			r.Note = "it breaks, holds and breaks again along the axis: the last change is shown"
		}
		chart.Frontier = append(chart.Frontier, r)
	}
	return nil
}

func without(p []Setting, i int) []Setting { return slices.Delete(slices.Clone(p), i, i+1) }

// bisectAll looks for the frontier at every combination of the other axes.
func (s *Spec) bisectAll(ctx context.Context, chart *Chart) error {
	along := s.along()
	at := combinations(slices.Delete(slices.Clone(s.Axes), along, along+1))
	rows := make([]Row, len(at))
	sides := make([][]Cell, len(at))
	done, err := each(ctx, len(at), s.Jobs, func(i int) (err error) {
		rows[i], sides[i], err = s.bisect(ctx, at[i], s.Axes[along], along)
		return err
	})
	if err != nil {
		return err
	}
	for i := range rows {
		if !done[i] {
			chart.Partial = true
			continue
		}
		chart.Frontier = append(chart.Frontier, rows[i])
		chart.Cells = append(chart.Cells, sides[i]...)
	}
	return nil
}

// bisect finds the frontier between the lowest and the highest value of an axis that the protocol takes, in steps of the
// resolution, and returns the cells on either side. It takes the lock to change sides once only.
func (s *Spec) bisect(ctx context.Context, at []Setting, axis Axis, along int) (Row, []Cell, error) {
	unit := axis.unit()
	var low, high decimal.Decimal
	isAny, why := false, ""
	for _, v := range axis.Values {
		_, err := s.settings(slices.Insert(slices.Clone(at), along, Setting{axis.Path, v.Word}))
		switch {
		case err != nil:
			why = err.Error()
		case !isAny:
			low, high, isAny = v.Number, v.Number, true
		default:
			low, high = decimal.Min(low, v.Number), decimal.Max(high, v.Number)
		}
	}
	if !isAny {
		return Row{At: words(at), Note: "cannot be run: " + why}, nil, nil
	}
	step := unit.resolution()
	steps, _ := high.Sub(low).QuoRem(step, 0)
	cells := map[int64]Cell{}
	look := func(i int64) (*probe, error) {
		if err := ctx.Err(); err != nil {
			return nil, context.Canceled
		}
		v := quantity(unit, low.Add(step.Mul(number(i))))
		point := slices.Insert(slices.Clone(at), along, Setting{axis.Path, v.Word})
		c, err := s.cell(ctx, point)
		if err == nil && c.Invalid != "" {
			err = fmt.Errorf("sweep: the lock takes the ends of axis %s, and not %s: %s", axis.Path, v.Word, c.Invalid)
		}
		cells[i] = c
		return &probe{v, c.Broken()}, err
	}
	first, last := int64(0), steps.IntPart()
	a, b, err := ends(look, &first, &last)
	if err != nil {
		return Row{}, nil, err
	}
	switch {
	case a.broken && b.broken:
		return s.row(at, axis.Path, nil, b), []Cell{cells[last]}, nil
	case !a.broken && !b.broken:
		return s.row(at, axis.Path, a, nil), []Cell{cells[first]}, nil
	case a.broken:
		return s.row(at, axis.Path, b, a), []Cell{cells[first], cells[last]}, nil
	}
	return s.row(at, axis.Path, a, b), []Cell{cells[first], cells[last]}, nil
}

// ends moves first and last together until they are neighbours on different sides, or on the same side from the start.
func ends(look func(int64) (*probe, error), first, last *int64) (a, b *probe, err error) {
	if a, err = look(*first); err != nil {
		return nil, nil, err
	}
	if b, err = look(*last); err != nil {
		return nil, nil, err
	}
	for a.broken != b.broken && *last-*first > 1 {
		at := *first + (*last-*first)/2
		middle, err := look(at)
		switch {
		case err != nil:
			return nil, nil, err
		case middle.broken == a.broken:
			a, *first = middle, at
		default:
			b, *last = middle, at
		}
	}
	return a, b, nil
}
