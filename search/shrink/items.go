package shrink

import (
	"slices"
	"time"

	"redlocksim/scenarios"
)

// usualWait is how long a lock step waits if a file does not say.
const usualWait = time.Minute

// programs takes out what clients do.
func programs(x *shrinker) {
	x.items(func(item *scenarios.Item) bool { return item.Fault == nil })
}

// fewerFaults takes out faults.
func fewerFaults(x *shrinker) {
	x.items(func(item *scenarios.Item) bool { return item.Fault != nil })
}

// items takes items of the timeline out, in ever smaller groups of neighbours: delta debugging (Zeller and Hildebrandt
// 2002, Simplifying and Isolating Failure-Inducing Input), without the half that tries the groups by themselves.
func (x *shrinker) items(of func(*scenarios.Item) bool) {
	chosen := func() (at []int) {
		for i := range x.now.Timeline {
			if of(&x.now.Timeline[i]) {
				at = append(at, i)
			}
		}
		return at
	}
	for size := len(chosen()); size > 0; size /= 2 {
		for from := 0; ; {
			at := chosen()
			if from >= len(at) {
				break
			}
			group := at[from:min(from+size, len(at))]
			if !x.try(func(s *scenarios.Scenario) { s.Timeline = without(s.Timeline, group) }) {
				from += size
			}
		}
	}
}

// without is a list without the elements of some indices, which ascend.
func without[T any](list []T, indices []int) []T {
	for _, i := range slices.Backward(indices) {
		list = slices.Delete(list, i, i+1)
	}
	return list
}

// steps takes steps out of programs: neighbours, in ever smaller groups, and then any two, as a lock and its unlock.
func steps(x *shrinker) {
	for i := range x.now.Timeline {
		drop := func(at ...int) bool {
			return x.try(func(s *scenarios.Scenario) { s.Timeline[i].Do = without(s.Timeline[i].Do, at) })
		}
		for size := len(x.now.Timeline[i].Do) - 1; size > 0; size-- {
			for from := 0; from+size <= len(x.now.Timeline[i].Do); {
				var group []int
				for at := range size {
					group = append(group, from+at)
				}
				if !drop(group...) {
					from++
				}
			}
		}
		for first := 0; first < len(x.now.Timeline[i].Do); first++ {
			for second := first + 2; second < len(x.now.Timeline[i].Do); {
				if !drop(first, second) {
					second++
				}
			}
		}
		for at, step := range x.now.Timeline[i].Do {
			if step.Kind == scenarios.LockStep {
				x.try(func(s *scenarios.Scenario) { s.Timeline[i].Do[at].For = usualWait })
			}
		}
	}
}
