package shrink

import (
	"sort"
	"time"

	"redlocksim/scenarios"
)

// length ends the run as early as a number of two digits allows, which is soon after the violation.
func length(x *shrinker) {
	var rounds []time.Duration
	for power := time.Millisecond; power < x.now.Duration; power *= 10 {
		for i := time.Duration(10); i < 100 && i*power < x.now.Duration; i++ {
			rounds = append(rounds, i*power)
		}
	}
	last := func(d time.Duration) edit { return func(s *scenarios.Scenario) { s.Duration = d } }
	at := sort.Search(len(rounds), func(i int) bool { return x.breaks(last(rounds[i])) })
	if at < len(rounds) {
		x.try(last(rounds[at]))
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
