package shrink

import (
	"slices"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// resources takes resources out, the last first: what is done to one is done to the first instead, or it is only no longer
// declared, where nothing is done to it.
func resources(x *shrinker) {
	for _, name := range x.now.Semaphores {
		x.try(func(s *scenarios.Scenario) { withoutPermits(s, name) })
		permits := x.now.PermitsOf(name)
		for i := len(permits) - 1; i > 0; i-- {
			x.try(func(s *scenarios.Scenario) { merge(s, permits[i], permits[0]) })
		}
	}
	for _, name := range slices.Backward(slices.Clone(x.now.Resources)) {
		if first := x.now.Resources[0]; name != first && len(x.now.Resources) > 1 {
			x.try(func(s *scenarios.Scenario) { merge(s, name, first) })
		}
	}
}

// withoutPermits has everything that is done under permits of a semaphore done under a lock.
func withoutPermits(s *scenarios.Scenario, semaphore string) {
	permits, into := s.PermitsOf(semaphore), s.Resources[0]
	s.Semaphores = slices.DeleteFunc(slices.Clone(s.Semaphores), func(name string) bool { return name == semaphore })
	for i := range s.Timeline {
		for j := range s.Timeline[i].Do {
			if step := &s.Timeline[i].Do[j]; step.Kind == scenarios.WithAllStep && slices.Equal(s.Timeline[i].Taken(step, s.Resources), []string{semaphore}) {
				step.Kind = scenarios.WithLockStep
			}
		}
	}
	for _, name := range append(permits, semaphore, protocols.AllOf(semaphore)) {
		merge(s, name, into)
	}
}

// merge has everything that is done to a resource done to another one.
func merge(s *scenarios.Scenario, name, into string) {
	instead := func(names []string) []string {
		var merged []string
		for _, n := range names {
			if n == name {
				n = into
			}
			if !slices.Contains(merged, n) {
				merged = append(merged, n)
			}
		}
		return merged
	}
	s.Resources = instead(s.Resources)
	for i := range s.Timeline {
		item := &s.Timeline[i]
		item.Resource = instead(item.Resource)
		for j := range item.Do {
			item.Do[j].Resource = instead(item.Do[j].Resource)
		}
		if m := item.When.After; m != nil && m.Resource == name {
			m.Resource = into
		}
	}
}
