package scenarios

import "slices"

// writes says whether a client writes to the resource.
func (s *Scenario) writes() bool {
	return s.hasStep(func(step *Step) bool { return step.writes() || step.Kind.isOneCall() })
}

// hasStep says whether there is such a step.
func (s *Scenario) hasStep(is func(*Step) bool) bool {
	return slices.ContainsFunc(s.Timeline, func(item Item) bool {
		return slices.ContainsFunc(item.Do, func(step Step) bool { return is(&step) })
	})
}
