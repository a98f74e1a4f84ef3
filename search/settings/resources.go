package settings

import (
	"slices"

	"redlocksim/faults"
	"redlocksim/scenarios"
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
	back: func(s, base *scenarios.Scenario) { s.Resources = base.Resources },
}
