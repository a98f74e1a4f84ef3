package shrink

import (
	"reflect"

	"redlocksim/scenarios"
)

// goroutines has fewer goroutines of a client do the same, down to a single one.
func goroutines(x *shrinker) {
	for i := range x.now.Timeline {
		for n := 1; n < x.now.Timeline[i].Goroutines; n++ {
			if x.try(func(s *scenarios.Scenario) { s.Timeline[i].Goroutines = n }) {
				break
			}
		}
	}
}

// calls has steps call the lock as usual, or with fewer keys that say how not.
func calls(x *shrinker) {
	for i := range x.now.Timeline {
		for j := range x.now.Timeline[i].Do {
			if x.try(func(s *scenarios.Scenario) { s.Timeline[i].Do[j].Calling = scenarios.Calling{} }) {
				continue
			}
			for key := range reflect.TypeFor[scenarios.Calling]().NumField() {
				x.try(func(s *scenarios.Scenario) { reflect.ValueOf(&s.Timeline[i].Do[j].Calling).Elem().Field(key).SetZero() })
			}
		}
	}
}
