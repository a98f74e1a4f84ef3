package settings

import (
	"slices"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/reach"
)

// resources is how many there are to lock: one by one, or several as one lock.
var resources = knob{
	name:  "resources",
	sized: true,
	draw: func(c faults.Choices, s *scenarios.Scenario) {
		s.Resources = slices.Clone(s.Resources)
		for _, name := range []string{"S", "T"}[:1+c.For("more", 0).Below(2)] {
			if !slices.Contains(s.Resources, name) {
				s.Resources = append(s.Resources, name)
			}
		}
	},
	back: func(s, base *scenarios.Scenario) { s.Resources = slices.Concat(base.Resources, drawnPermits(s, base)) },
}

// semaphores is one, with a few permits.
var semaphores = knob{
	name:    "semaphores",
	feature: reach.Permits,
	sized:   true,
	draw: func(c faults.Choices, s *scenarios.Scenario) {
		const name = "pool"
		if !s.Lock.Capabilities().Permits || slices.Contains(s.Semaphores, name) || slices.Contains(s.Resources, name) {
			return
		}
		s.Resources, s.Semaphores = slices.Clone(s.Resources), append(slices.Clone(s.Semaphores), name)
		for i := range 1 + int(c.For("permits", 0).Below(3)) {
			s.Resources = append(s.Resources, protocols.PermitOf(name, i+1))
		}
		s.Resources = append(s.Resources, protocols.AllOf(name))
	},
	back: func(s, base *scenarios.Scenario) {
		permits := drawnPermits(s, base)
		s.Resources = slices.DeleteFunc(slices.Clone(s.Resources), func(name string) bool { return slices.Contains(permits, name) })
		s.Semaphores = base.Semaphores
	},
}

// drawnPermits are the permits of the semaphores that base has not, and what goes with them.
func drawnPermits(s, base *scenarios.Scenario) (permits []string) {
	for _, name := range s.Semaphores {
		if !slices.Contains(base.Semaphores, name) {
			permits = append(append(permits, s.PermitsOf(name)...), protocols.AllOf(name))
		}
	}
	return permits
}
