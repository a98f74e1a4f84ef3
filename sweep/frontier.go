package sweep

import (
	"context"
	"fmt"
	"slices"

	"github.com/shopspring/decimal"

	"redlocksim/internal/jobs"
)

// Row is the frontier along one axis at one combination of values of the others.
type Row struct {
	// At is the values of the other axes, as words, in their order.
	At []string `json:"at"`
	// Safe and Broken are the neighbours on either side of the frontier; one is empty if all values are on one side.
	Safe   string `json:"safe"`
	Broken string `json:"broken"`
	// Formula is the exact value of the formula, or AnyValue; empty if no schedule has a formula for this axis.
	Formula string `json:"formula"`
	// Difference is Safe minus the formula: less than one step of the axis if they agree.
	Difference string `json:"difference"`
	// Agrees says how the formula compares with what was found; empty without a formula.
	Agrees Agreement `json:"agrees,omitempty"`
	// Explained is how much of the difference message delays account for, if the formula is stricter.
	Explained string `json:"explained,omitempty"`
	// Note is for people.
	Note string `json:"note,omitempty"`
}

// Agreement is how a formula compares with what was found.
type Agreement string

const (
	// Agrees: the formula lies between safe and broken, or beyond all values on the right side.
	Agrees Agreement = "yes"
	// Stricter: the lock holds slightly beyond the formula, by no more than message delays account for. Formulas are exact if
	// messages take no time.
	Stricter Agreement = "stricter"
	// Disagrees: the lock breaks where the formula says that it holds, or the other way round beyond what message delays
	// account for. Either the formula or the search is wrong.
	Disagrees Agreement = "NO"
)

// AnyValue is the formula of a setting that makes no difference: the lock holds with any value.
const AnyValue = "any"

// probe is a value on the frontier's axis, and what was found there.
type probe struct {
	value Value
	cell  *Cell
}

func (p *probe) broken() bool { return p.cell.Broken() }

// row makes a row of the two neighbours, either of which can be nil. tried are all values that were tried, tested or not.
func (s *Spec) row(at []Setting, path string, safe, broken *probe, tried []probe) Row {
	r := Row{At: words(at)}
	if safe != nil {
		r.Safe = safe.value.Word
	}
	if broken != nil {
		r.Broken = broken.value.Word
	}
	missed := 0
	why := ""
	for _, p := range tried {
		if p.cell.Untested() {
			if missed++; missed == 1 {
				why = fmt.Sprintf("%s: %s", p.value.Word, p.cell.NotTested[0].Why)
			}
		}
	}
	switch {
	case safe == nil && broken == nil:
		r.Note = "not tested: " + why
		return r
	case safe == nil:
		r.Note = "broken everywhere on the axis"
	case broken == nil:
		r.Note = "safe everywhere on the axis"
	}
	if missed > 0 {
		if r.Note != "" {
			r.Note += "; "
		}
		r.Note += fmt.Sprintf("%d not tested, %s", missed, why)
	}
	s.compare(&r, at, path, tried)
	return r
}

// compare adds what the formula gives, and whether the results of its own schedule agree with it.
func (s *Spec) compare(r *Row, at []Setting, path string, tried []probe) {
	schedule, knob := s.knob(path)
	if knob == nil {
		return
	}
	holds, breaks := knob.farthest(schedule, tried)
	// Formulas do not look at their own setting; that of a neighbour is one which the protocol takes.
	some := holds
	if some == nil {
		some = breaks
	}
	if some == nil {
		return
	}
	settings, err := s.settings(append(slices.Clone(at), Setting{path, some.value.Word}))
	if err != nil {
		return
	}
	if !modelled(settings) || knob.Applies != nil && !knob.Applies(settings) {
		return
	}
	if knob.Any != nil && knob.Any(settings) {
		r.Formula, r.Agrees = AnyValue, Agrees
		if breaks != nil {
			r.Agrees = Disagrees
		}
		return
	}
	f := knob.Formula(settings)
	r.Formula = knob.Unit.word(f)
	allowed := func(p *probe) bool { return p != nil && !knob.safer(f, p.value.Number) } // the formula says that it holds
	r.Agrees = Agrees
	if holds != nil {
		r.Difference = knob.Unit.word(holds.value.Number.Sub(f))
	}
	switch {
	case allowed(breaks):
		r.Agrees = Disagrees
	case holds != nil && !allowed(holds):
		r.Agrees = Disagrees
		if knob.messages == nil {
			return
		}
		explained := knob.messages(settings, holds.cell.took[schedule])
		if explained.GreaterThanOrEqual(f.Sub(holds.value.Number).Abs()) {
			r.Agrees, r.Explained = Stricter, knob.Unit.word(explained)
		}
	}
}

// safer says whether a is a safer value than b.
func (k *Knob) safer(a, b decimal.Decimal) bool { return a.GreaterThan(b) != k.Falls && !a.Equal(b) }

// farthest are the least safe value with which the schedule fails and the safest with which it succeeds; nil if there is none.
func (k *Knob) farthest(schedule string, tried []probe) (holds, breaks *probe) {
	for i := range tried {
		p := &tried[i]
		if p.value.Unit != k.Unit || slices.ContainsFunc(p.cell.NotTested, func(m Missed) bool { return m.Schedule == schedule }) {
			continue
		}
		if slices.ContainsFunc(p.cell.Breaches, func(b Breach) bool { return b.Schedule == schedule }) || p.cell.brokenAtRandom() {
			if breaks == nil || k.safer(p.value.Number, breaks.value.Number) {
				breaks = p
			}
		} else if holds == nil || k.safer(holds.value.Number, p.value.Number) {
			holds = p
		}
	}
	return holds, breaks
}

// knob is the formula for a setting, and the schedule that has it; nil if none has.
func (s *Spec) knob(path string) (schedule string, knob *Knob) {
	for i := range s.Schedules {
		for j := range s.Schedules[i].Knobs {
			if k := &s.Schedules[i].Knobs[j]; k.Path == path {
				schedule, knob = s.Schedules[i].Name, k
			}
		}
	}
	return schedule, knob
}

// gridFrontier reads the frontier off the points of a grid.
func (s *Spec) gridFrontier(chart *Chart, points [][]Setting, cells []jobs.Result[Cell]) error {
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
	return nil
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

// bisectAll looks for the frontier at every combination of the other axes.
func (s *Spec) bisectAll(ctx context.Context, chart *Chart) error {
	along := s.along()
	at := combinations(slices.Delete(slices.Clone(s.Axes), along, along+1))
	type frontier struct {
		row   Row
		sides []Cell
	}
	results, err := jobs.Set[struct{}, frontier]{N: len(at), Workers: s.Jobs,
		Do: func(ctx context.Context, _ *struct{}, i int) (f frontier, err error) {
			f.row, f.sides, err = s.bisect(ctx, at[i], s.Axes[along], along)
			return f, err
		},
		Name: func(i int) string { return fmt.Sprint("frontier at ", words(at[i])) },
	}.Run(ctx)
	if err != nil {
		return err
	}
	for _, r := range results {
		if !r.Done {
			chart.Partial = true
			continue
		}
		chart.Frontier = append(chart.Frontier, r.Value.row)
		chart.Cells = append(chart.Cells, r.Value.sides...)
	}
	return nil
}

// bisect finds the frontier between the lowest and the highest value of an axis that the protocol takes, in steps of the
// resolution, and returns the cells on either side. It assumes a single change.
func (s *Spec) bisect(ctx context.Context, at []Setting, axis Axis, along int) (Row, []Cell, error) {
	unit := axis.unit()
	low, high, why := s.extremes(at, axis, along)
	if why != "" {
		return Row{At: words(at), Note: "cannot be run: " + why}, nil, nil
	}
	step := unit.resolution()
	steps, _ := high.Sub(low).QuoRem(step, 0)
	cells := map[int64]Cell{}
	var tried []probe
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
		p := probe{v, &c}
		tried = append(tried, p)
		return &p, err
	}
	first, last := int64(0), steps.IntPart()
	a, b, err := ends(look, &first, &last)
	if err != nil {
		return Row{}, nil, err
	}
	row := func(safe, broken *probe) Row { return s.row(at, axis.Path, safe, broken, tried) }
	switch {
	case a.cell.Untested() && b.cell.Untested():
		return row(nil, nil), []Cell{cells[first], cells[last]}, nil
	case a.cell.Untested():
		a = b
	case b.cell.Untested():
		b = a
	}
	switch {
	case a.broken() && b.broken():
		return row(nil, b), []Cell{cells[last]}, nil
	case !a.broken() && !b.broken():
		return row(a, nil), []Cell{cells[first]}, nil
	case a.broken():
		return row(b, a), []Cell{cells[first], cells[last]}, nil
	}
	return row(a, b), []Cell{cells[first], cells[last]}, nil
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
