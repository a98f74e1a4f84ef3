package sweep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
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
	// Weaker: somebody's lock breaks where the formula says that Redlock with the same settings holds.
	Weaker Agreement = "weaker"
	// Safer: somebody's lock holds where the formula says that Redlock breaks, by more than message delays account for.
	Safer Agreement = "safer"
)

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
		r.Note = strings.TrimPrefix(r.Note+"; the formula is not about these settings", "; ")
		return
	}
	f := knob.Formula(settings)
	r.Formula = knob.Unit.Word(f)
	allowed := func(p *probe) bool { return p != nil && !knob.safer(f, p.value.Number) } // the formula says that it holds
	r.Agrees = Agrees
	if holds != nil {
		r.Difference = knob.Unit.Word(holds.value.Number.Sub(f))
	}
	switch {
	case allowed(breaks):
		r.Agrees = s.otherwise(Weaker)
	case holds != nil && !allowed(holds):
		r.Agrees = s.otherwise(Safer)
		if knob.messages == nil {
			return
		}
		explained := knob.messages(settings, holds.cell.took[schedule])
		if explained.GreaterThanOrEqual(f.Sub(holds.value.Number).Abs()) {
			r.Agrees, r.Explained = Stricter, knob.Unit.Word(explained)
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
