package sweep

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"redlocksim/internal/frontier"
	"redlocksim/scenarios/variant"
	"redlocksim/search/attacks"
)

// Row is the frontier along one axis at one combination of values of the others.
type Row struct {
	// At is the values of the other axes, as words, in their order.
	At []string `json:"at"`
	// Safe and Broken are the neighbours on either side of the frontier; one is empty if all values are on one side.
	Safe   string `json:"safe"`
	Broken string `json:"broken"`
	// Formula is the exact value of the formula; empty if no schedule has a formula for this axis.
	Formula string `json:"formula"`
	// Difference is Safe minus the formula: less than one step of the axis if they agree.
	Difference string `json:"difference"`
	// Agrees says how the formula compares with what was found; empty without a formula.
	Agrees Agreement `json:"agrees,omitempty"`
	// Note is for people.
	Note string `json:"note,omitempty"`
}

// Agreement is how a formula compares with what was found.
type Agreement string

const (
	// Agrees: the formula lies between safe and broken, or beyond all values on the right side.
	Agrees Agreement = "yes"
	// Stricter: the lock holds beyond the formula, which is exact only if messages take no time, by no more than they take.
	Stricter Agreement = "stricter"
	// Disagrees: the lock breaks where the formula says that it holds, or the other way round. Either the formula or the search
	// is wrong.
	Disagrees Agreement = "NO"
	// Weaker: somebody's lock breaks where the formula says that Redlock with the same settings holds.
	Weaker Agreement = "weaker"
	// Safer: somebody's lock holds where the formula says that Redlock breaks.
	Safer Agreement = "safer"
)

// probe is a value on the frontier's axis, and what was found there.
type probe struct {
	value variant.Value
	cell  *Cell
}

// point is that of a value on the frontier's axis, with those of the other axes.
func (s *Spec) point(at []variant.Setting, v variant.Value) []variant.Setting {
	return append(slices.Clone(at), variant.Setting{Path: s.along().Path, Word: v.Word})
}

// frontier reads the frontier off the points of a grid.
func (s *Spec) frontier(chart *Chart) {
	axis := s.along()
	if axis.unit() == "" {
		return
	}
	found := map[string]*Cell{}
	for i := range chart.Cells {
		found[strings.Join(chart.Cells[i].At, "\x00")] = &chart.Cells[i]
	}
	for _, at := range points(s.others()) {
		var line []probe
		complete := true
		for _, v := range axis.Values {
			switch c := found[strings.Join(words(s.point(at, v)), "\x00")]; {
			case c == nil:
				complete = false
			case c.Invalid == "":
				line = append(line, probe{v, c})
			}
		}
		if complete && len(line) > 0 {
			chart.Frontier = append(chart.Frontier, s.row(at, line, true))
		}
	}
}

// bisect finds the frontier between the lowest and the highest value of the axis that the protocol takes, in steps of its
// unit, and the points on either side. It assumes a single change.
func (s *Spec) bisect(ctx context.Context, at []variant.Setting, p *part) error {
	axis := s.along()
	low, high, err := s.extremes(at, axis)
	if err != nil {
		p.Row = &Row{At: words(at), Note: "cannot be run: " + err.Error()}
		return nil
	}
	values := variant.NewScale(low, high, axis.unit().Step())
	tried := map[int64]*Cell{}
	look := func(i int64) (frontier.Side, error) {
		if ctx.Err() != nil {
			return frontier.Untested, context.Canceled
		}
		v := values.At(i)
		c, err := s.cell(s.point(at, v), p)
		if err == nil && c.Invalid != "" {
			err = fmt.Errorf("sweep: the lock takes the ends of axis %s, and not %s: %s", axis.Path, v.Word, c.Invalid)
		}
		tried[i] = &c
		return c.side(), err
	}
	seen, isFound, err := frontier.Narrow(values.Last, look)
	if err != nil {
		return err
	}
	var line []probe
	for _, i := range seen.At {
		line = append(line, probe{values.At(i), tried[i]})
	}
	row := s.row(at, line, isFound)
	p.Row = &row
	for i, t := range line {
		isEnd := i == 0 || i == len(line)-1
		if t.value.Word == row.Safe || t.value.Word == row.Broken || row.Safe == "" && row.Broken == "" && isEnd {
			p.Cells = append(p.Cells, *t.cell)
		}
	}
	return nil
}

// extremes are the lowest and the highest value of an axis that the protocol takes; the error says why it takes none.
func (s *Spec) extremes(at []variant.Setting, axis Axis) (low, high variant.Value, err error) {
	var taken []variant.Value
	for _, v := range axis.Values {
		_, refused := s.settings(s.point(at, v))
		if err = cmp.Or(err, refused); refused == nil {
			taken = append(taken, v)
		}
	}
	if taken == nil {
		return low, high, err
	}
	lower := func(a, b variant.Value) int { return a.Number.Cmp(b.Number) }
	return slices.MinFunc(taken, lower), slices.MaxFunc(taken, lower), nil
}

// row is what some values of the axis come to, tested or not. Without isFound, the frontier is where nothing could be tested.
func (s *Spec) row(at []variant.Setting, tried []probe, isFound bool) Row {
	r := Row{At: words(at)}
	missed, why := 0, ""
	var tested []probe
	for _, p := range tried {
		if !p.cell.Untested() {
			tested = append(tested, p)
		} else if missed++; missed == 1 {
			why = fmt.Sprintf("%s: %s", p.value.Word, p.cell.NotTested[0].Why)
		}
	}
	if len(tested) == 0 || !isFound {
		r.Note = "not tested: " + why
		return r
	}
	slices.SortStableFunc(tested, func(a, b probe) int { return a.value.Number.Cmp(b.value.Number) })
	var line []frontier.Side
	for _, p := range tested {
		line = append(line, p.cell.side())
	}
	holds, breaks, changes := frontier.Change(line)
	if r.Note = "broken everywhere on the axis"; holds >= 0 {
		r.Safe, r.Note = tested[holds].value.Word, ""
	}
	if breaks >= 0 {
		r.Broken = tested[breaks].value.Word
	} else {
		r.Note = "safe everywhere on the axis"
	}
	if missed > 0 {
		r.Note = strings.TrimPrefix(fmt.Sprintf("%s; %d not tested, %s", r.Note, missed, why), "; ")
	}
	s.compare(&r, at, tried)
	if changes > 1 {
		r.Note = "the lock breaks, holds and breaks again along the axis; only the last change is shown"
	}
	return r
}

// compare adds what the formula gives, and whether the results of its own schedule agree with it.
func (s *Spec) compare(r *Row, at []variant.Setting, tried []probe) {
	schedule, knob := s.knob()
	if knob == nil {
		return
	}
	holds, breaks := farthest(knob, schedule, tried)
	// Formulas do not look at their own setting; that of a neighbour is one which the protocol takes.
	some := holds
	if some == nil {
		some = breaks
	}
	if some == nil {
		return
	}
	settings, err := s.settings(s.point(at, some.value))
	if err != nil {
		return
	}
	if !knob.Applies(settings) {
		r.Note = strings.TrimPrefix(r.Note+"; the formula is not about these settings", "; ")
		return
	}
	f := knob.Formula(settings)
	r.Formula = knob.Unit.Word(f)
	allowed := func(p *probe) bool { return p != nil && !knob.Safer(f, p.value.Number) } // the formula says that it holds
	r.Agrees = Agrees
	if holds != nil {
		r.Difference = knob.Unit.Word(holds.value.Number.Sub(f))
	}
	switch {
	case allowed(breaks):
		r.Agrees = s.otherwise(Weaker)
	case holds != nil && !allowed(holds):
		r.Agrees = s.otherwise(Safer)
		if f.Sub(holds.value.Number).Abs().LessThanOrEqual(knob.Slack(settings)) {
			r.Agrees = Stricter
		}
	}
}

// otherwise is what it means that a lock does not do as the formula says: of somebody's lock what it is beside Redlock.
func (s *Spec) otherwise(of Agreement) Agreement {
	if s.Foreign == nil {
		return Disagrees
	}
	return of
}

// farthest are the least safe value with which the schedule fails and the safest with which it succeeds; nil if there is none.
func farthest(k *attacks.Knob, schedule string, tried []probe) (holds, breaks *probe) {
	for i := range tried {
		p := &tried[i]
		switch {
		case p.value.Unit != k.Unit || p.cell.missedBy(schedule):
		case p.cell.brokenBy(schedule):
			if breaks == nil || k.Safer(p.value.Number, breaks.value.Number) {
				breaks = p
			}
		case holds == nil || k.Safer(holds.value.Number, p.value.Number):
			holds = p
		}
	}
	return holds, breaks
}

// knob is the formula for the frontier's setting, and the schedule that has it; nil if none has.
func (s *Spec) knob() (schedule string, knob *attacks.Knob) {
	all, _ := s.attacks() // which was checked
	for _, a := range all {
		for j := range a.Knobs {
			if a.Knobs[j].Path == s.along().Path {
				schedule, knob = a.Name, &a.Knobs[j]
			}
		}
	}
	return schedule, knob
}
