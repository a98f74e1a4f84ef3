package shrink

import (
	"sort"
	"time"

	"redlocksim/scenarios"
)

// length ends the run soon after the violation: at the earliest time of two digits at which it is there, or at the next
// rounder one, so that a reader sees it last for a while.
func length(x *shrinker) {
	var rounds []time.Duration
	for power := time.Millisecond; power < x.now.Duration; power *= 10 {
		for i := time.Duration(10); i < 100 && i*power < x.now.Duration; i++ {
			rounds = append(rounds, i*power)
		}
	}
	last := func(d time.Duration) edit { return func(s *scenarios.Scenario) { s.Duration = d } }
	at := sort.Search(len(rounds), func(i int) bool { return x.breaks(last(rounds[i])) })
	if at == len(rounds) {
		return
	}
	if later := rounderThan(rounds[at]); later < x.now.Duration && x.try(last(later)) || later == x.now.Duration {
		return
	}
	x.try(last(rounds[at]))
}

// rounderThan is the next number after d that is a round one: 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6 or 8, or a power of ten of it.
func rounderThan(d time.Duration) time.Duration {
	for power := time.Millisecond / 10; ; power *= 10 {
		for _, tenths := range []time.Duration{10, 12, 15, 20, 25, 30, 40, 50, 60, 80} {
			if tenths*power > d {
				return tenths * power
			}
		}
	}
}

// repeats lets programs be repeated less often. One whose later passes matter can start later instead.
func repeats(x *shrinker) {
	for i := range x.now.Timeline {
		item := x.now.Timeline[i]
		often := func(n int) edit { return func(s *scenarios.Scenario) { s.Timeline[i].Repeat = n } }
		if item.Fault != nil || item.Repeat == 1 || x.try(often(1)) {
			continue
		}
		n := 1 + sort.Search(item.Repeat-1, func(n int) bool { return n > 0 && x.breaks(often(n+1)) })
		x.try(often(n))
		if item.When.After == nil {
			const parts = 32
			for part := range time.Duration(parts) {
				if x.try(func(s *scenarios.Scenario) {
					s.Timeline[i].Repeat = 1
					s.Timeline[i].When.At = s.Duration / parts * part
				}) {
					break
				}
			}
		}
	}
}
