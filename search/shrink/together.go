package shrink

import (
	"slices"
	"time"

	"redlocksim/scenarios"
)

// shifts moves all that happens from a time on earlier as a whole, so that nothing, or a round length of time, is before it.
func shifts(x *shrinker) {
	for n := 0; ; n++ {
		at := instants(x.now)
		if n >= len(at) {
			return
		}
		gap := at[n]
		if n > 0 {
			gap -= at[n-1]
		}
		for _, to := range []time.Duration{0, time.Duration(down(int64(gap), 1)), time.Duration(up(int64(gap/2), 1))} {
			if to < gap && x.try(func(s *scenarios.Scenario) {
				for i := range s.Timeline {
					if when := &s.Timeline[i].When; when.After == nil && when.At >= at[n] {
						when.At -= gap - to
					}
				}
			}) {
				break
			}
		}
	}
}

// instants are the times of the timeline that are not zero, ascending.
func instants(s *scenarios.Scenario) []time.Duration {
	var at []time.Duration
	for i := range s.Timeline {
		if when := &s.Timeline[i].When; when.After == nil && when.At > 0 {
			at = append(at, when.At)
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// equal makes two numbers the same that need not differ. None more than doubles: that would be another story.
func equal(x *shrinker) {
	for i := range numbers(x.now) {
		for j := range numbers(x.now) {
			if all := numbers(x.now); i != j && i < len(all) && j < len(all) && all[i].sized == nil {
				if v := all[j].get(); v != all[i].get() && v <= 2*all[i].get() {
					x.try(value(i, v))
				}
			}
		}
	}
}

// order has the timeline in the order of its times. What waits for an event stays behind what it stands behind.
func order(x *shrinker) {
	x.try(func(s *scenarios.Scenario) { s.Timeline = inOrder(s.Timeline) })
	for i := range len(x.now.Timeline) - 1 {
		if isLater(&x.now.Timeline[i], &x.now.Timeline[i+1]) {
			x.try(func(s *scenarios.Scenario) { s.Timeline[i], s.Timeline[i+1] = s.Timeline[i+1], s.Timeline[i] })
		}
	}
}
