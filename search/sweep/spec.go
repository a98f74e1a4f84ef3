package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"redlocksim/internal/jobs"
	"redlocksim/scenarios"
)

// Spec is a sweep.
type Spec struct {
	// Name is a title.
	Name string
	Base Base
	// Yours are somebody's own settings, which the chart marks; nil if it is of nobody's.
	Yours *Base
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
	// Repeat is the command that makes it, to which options are added that make a run of a point again; may be empty.
	Repeat string
	// Foreign is somebody's lock in the place of the protocol, whose formulas it is compared with; nil if it is that.
	Foreign *scenarios.Foreign
	// Jobs is the number of points run in parallel; 0 is one per core. Elsewhere, if not nil, runs them on other machines.
	// Neither changes a result.
	Jobs      int
	Elsewhere jobs.Elsewhere
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

// SpecError is a sweep that makes no sense.
type SpecError struct{ Err error }

func (e *SpecError) Error() string { return e.Err.Error() }

// Unwrap gives what is wrong.
func (e *SpecError) Unwrap() error { return e.Err }
