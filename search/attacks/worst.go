package attacks

import (
	"reflect"
	"slices"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// Worst are the worst schedules of a budget, which a search makes before all others: each attack on mutual exclusion with one
// term of the budget at its edge and none of the others, then with each pair of terms, and then with all that the budget
// allows. What breaks a lock is so first seen with as little as it takes. foreign is somebody's lock, or nil; what that cannot
// do is left out.
func Worst(s *Settings, foreign *scenarios.Foreign) (all []*scenarios.Scenario) {
	o := scenarios.Options{Foreign: foreign}
	on := against(s, o)
	budget := on.Budget
	budget.Delay += on.slowest() // see hurry
	add := func(a Attack, s *Settings) {
		for _, x := range a.build(s) {
			if x.Name, x.Budget = a.Name, budget; unable(x, o) == nil {
				all = append(all, x)
			}
		}
	}
	attacks := slices.DeleteFunc(All(), func(a Attack) bool { return !a.Exclusion() })
	for size := 1; size <= 2; size++ {
		for _, a := range attacks {
			terms := a.terms(on)
			for _, some := range subsets(terms, size) {
				if len(some) < len(terms) {
					add(a, on.within(some))
				}
			}
		}
	}
	for _, a := range attacks {
		add(a, on)
		if on.CanJoin() {
			joint := *on
			joint.Joint = true
			add(a, &joint)
		}
	}
	return all
}

// terms are the keys of the budget that an attack can use: those of which there is something.
func (a Attack) terms(s *Settings) (keys []string) {
	b := reflect.ValueOf(s.Budget)
	for i := range b.NumField() {
		key := b.Type().Field(i).Tag.Get("yaml")
		isUsed := slices.Contains(a.Uses, key) || key == "delay" && a.writes
		if isUsed && isAmount(key) && !b.Field(i).IsZero() {
			keys = append(keys, key)
		}
	}
	return keys
}

// within is the settings with no more of the budget than some of its terms.
func (s *Settings) within(terms []string) *Settings {
	less, scenario := *s, *s.Scenario
	less.Scenario = &scenario
	scenario.Budget = only(s.Budget, terms)
	if !slices.Contains(terms, "pause") {
		less.Pause = 0
	}
	return &less
}

// only is a budget of which nothing is left but some terms, and what is no amount.
func only(b faults.Budget, terms []string) faults.Budget {
	v := reflect.ValueOf(&b).Elem()
	for i := range v.NumField() {
		if key := v.Type().Field(i).Tag.Get("yaml"); isAmount(key) && !slices.Contains(terms, key) {
			v.Field(i).SetZero()
		}
	}
	return b
}

// isAmount says whether a key of the budget bounds how much may happen, and is no promise about how.
func isAmount(key string) bool { return key != "no-power-loss" }

// subsets are those of one or two elements.
func subsets(of []string, size int) (all [][]string) {
	for i, one := range of {
		if size == 1 {
			all = append(all, []string{one})
			continue
		}
		for _, other := range of[i+1:] {
			all = append(all, []string{one, other})
		}
	}
	return all
}
