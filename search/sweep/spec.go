// Package sweep charts where a lock is safe: it makes the attacks that a budget of assumptions allows, or runs a scenario, at
// every point of a grid of settings, and finds the frontier between settings that break and settings that hold. If the
// literature has a formula for a setting, it compares the frontier with that.
//
// Start at [Run] with a [Spec], made by [Preset] or [Load] or by hand. Any key of a settings file can be an axis.
package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"redlocksim/internal/jobs"
	"redlocksim/scenarios"
	"redlocksim/scenarios/variant"
	"redlocksim/search/attacks"
)

// Spec is a sweep.
type Spec struct {
	// Name is a title.
	Name string
	// Base is what all points have in common: settings to attack, or a whole scenario, which is run as it is.
	Base variant.File
	// Yours are somebody's own settings, which the chart marks; nil if it is of nobody's.
	Yours *variant.File
	// Axes are the settings that vary, the outermost first. The last two are those of a map; the frontier is along the last.
	Axes []Axis
	// Schedules are the attacks that are made at every point, by their names; if there are none, all on mutual exclusion.
	Schedules []string
	// Bisect finds only the frontier, with few runs: to the millisecond, the millionth or the unit. Its axis must have
	// quantities, the lowest and highest of which bound the search.
	Bisect bool
	// Repeat is the command that makes it, to which options are added that make a run of a point again; may be empty.
	Repeat string
	// Foreign is somebody's lock in the place of the protocol, whose formulas it is compared with; nil if it is that.
	Foreign *scenarios.Foreign `json:"-"`
	// Jobs is the number of points run in parallel; 0 is one per core. Elsewhere, if not nil, runs them on other machines.
	// Neither changes a result.
	Jobs      int            `json:"-"`
	Elsewhere jobs.Elsewhere `json:"-"`
}

// attacks are those that are made at every point.
func (s *Spec) attacks() ([]attacks.Attack, error) {
	if s.Base.Whole {
		return []attacks.Attack{attacks.Timeline()}, nil
	}
	return attacks.Find(s.Schedules...)
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
	if len(s.Axes) == 0 {
		return errors.New("a sweep has at least one axis, as lock.ttl=1s,2s,5s")
	}
	if a := s.along(); s.Bisect && (a.unit() == "" || len(a.Values) < 2) {
		return fmt.Errorf("axis %s: a frontier needs at least two quantities of the same unit", a.Path)
	}
	_, err := s.attacks()
	return err
}

// manyValues is how many values of an axis are checked before anything is run; the rest are when their turn comes.
const manyValues = 200

// checkAxis says whether there is such a setting, and whether it can have the values; of very many, the ends. Where the
// protocol is an axis, too, it is enough that one of the protocols can.
func (s *Spec) checkAxis(a Axis) error {
	locks := [][]variant.Setting{nil}
	for _, b := range s.Axes {
		if b.Path != a.Path && (b.Path == "lock.protocol" || b.Path == "lock.preset") {
			locks = points([]Axis{b})
		}
	}
	for i, v := range a.Values {
		if i >= manyValues && i < len(a.Values)-1 {
			continue
		}
		var err error
		for _, lock := range locks {
			_, err = s.settings(append(lock, variant.Setting{Path: a.Path, Word: v.Word}))
			if err == nil || errors.As(err, new(*variant.Refused)) {
				err = nil
				break
			}
		}
		if at := a.Path + "=" + v.Word; err != nil && strings.HasPrefix(err.Error(), at+":") {
			return fmt.Errorf("axis %w", err)
		} else if err != nil {
			return fmt.Errorf("axis %s: %w", at, err)
		}
	}
	return nil
}

// settings are those of a point.
func (s *Spec) settings(at []variant.Setting) (*attacks.Settings, error) {
	f, err := s.Base.With(at...)
	if err != nil {
		return nil, err
	}
	return attacks.Read(f)
}

// Vary gives the sweep an axis: in place of the one of the same path, or as the outermost.
func (s *Spec) Vary(a Axis) {
	for i := range s.Axes {
		if s.Axes[i].Path == a.Path {
			s.Axes[i] = a
			return
		}
	}
	s.Axes = append([]Axis{a}, s.Axes...)
}

// SpecError is a sweep that makes no sense.
type SpecError struct{ Err error }

func (e *SpecError) Error() string { return e.Err.Error() }

// Unwrap gives what is wrong.
func (e *SpecError) Unwrap() error { return e.Err }

// along is the axis of the frontier, and others are the others.
func (s *Spec) along() Axis    { return s.Axes[len(s.Axes)-1] }
func (s *Spec) others() []Axis { return s.Axes[:len(s.Axes)-1] }
