package shrink

import (
	"sort"
	"time"

	"redlocksim/scenarios"
	"redlocksim/sim/network"
)

// resolution is how exactly the mildest size is looked for: that of Redis' clock.
const resolution = int64(time.Millisecond)

// value sets one of the numbers.
func value(at int, v int64) edit {
	return func(s *scenarios.Scenario) { numbers(s)[at].set(v) }
}

// sizes makes faults as mild as still breaks the lock, and then a little worse where that is a rounder number.
func sizes(x *shrinker) {
	for at := 0; at < len(numbers(x.now)); at++ {
		n := numbers(x.now)[at]
		if n.sized == nil {
			continue
		}
		was, holds, rounder := n.get(), int64(0), up
		if n.sized.Shrinks {
			holds, rounder = was+int64(x.now.Duration), down
		}
		// A fault whose size is not in the file, as of a pause that lasts until a resume, has none to turn.
		if c := x.edited(value(at, (was+holds)/2)); c == nil || len(numbers(c.now)) != len(numbers(x.now)) || weigh(c.now, c.data, x.base)[words] != x.weight[words] {
			continue
		}
		x.mildest(was, holds, rounder, func(v int64) edit { return value(at, v) })
	}
}

// mildest makes a number as mild as still breaks the lock, and then a little worse where that is a rounder number. The lock
// holds with the other one.
func (x *shrinker) mildest(was, holds int64, rounder func(int64, int) int64, set func(int64) edit) {
	broken := was
	for max(broken-holds, holds-broken) > resolution {
		middle := (broken + holds) / 2 / resolution * resolution
		if middle == broken || middle == holds {
			break
		}
		if x.breaks(set(middle)) {
			broken = middle
		} else {
			holds = middle
		}
	}
	for n := 1; ; n++ {
		round := rounder(broken, n)
		if round == was || x.try(set(round)) || round == broken {
			break
		}
	}
}

// length ends the run soon after the violation.
func length(x *shrinker) {
	x.mildest(int64(x.now.Duration), 0, up, func(v int64) edit { return func(s *scenarios.Scenario) { s.Duration = time.Duration(v) } })
}

// repeats has programs repeated less often. One whose later passes matter can start later instead.
func repeats(x *shrinker) {
	for i := range x.now.Timeline {
		x.fewer(i, func(i *scenarios.Item) *int { return &i.Repeat })
		const parts = 32
		for part := time.Duration(0); part < parts && x.now.Timeline[i].Repeat > 1 && x.now.Timeline[i].When.After == nil; part++ {
			x.try(func(s *scenarios.Scenario) {
				s.Timeline[i].Repeat, s.Timeline[i].When.At = 1, s.Duration/parts*part
			})
		}
	}
}

// counts has fewer goroutines of a client do the same, and items wait for fewer events.
func counts(x *shrinker) {
	for i := range x.now.Timeline {
		x.fewer(i, func(i *scenarios.Item) *int { return &i.Goroutines })
		if x.now.Timeline[i].When.After != nil {
			x.try(func(s *scenarios.Scenario) { s.Timeline[i].When.Every = false })
			x.fewer(i, func(i *scenarios.Item) *int { return &i.When.After.Nth })
		}
	}
}

// fewer makes a number of an item as small as still breaks the lock, if it is more than one.
func (x *shrinker) fewer(i int, of func(*scenarios.Item) *int) {
	now := *of(&x.now.Timeline[i])
	to := func(n int) edit { return func(s *scenarios.Scenario) { *of(&s.Timeline[i]) = n } }
	if now > 1 && !x.try(to(1)) {
		x.try(to(1 + sort.Search(now-1, func(n int) bool { return n > 0 && x.breaks(to(n+1)) })))
	}
}

// times makes the other numbers zero, or rounder, and then smaller, down to a millisecond.
func times(x *shrinker) {
	for at := 0; at < len(numbers(x.now)); at++ {
		n := numbers(x.now)[at]
		if n.sized != nil {
			continue
		}
		before := len(numbers(x.now))
		if x.try(value(at, 0)) {
			at -= before - len(numbers(x.now))
			continue
		}
		for figures := 1; figures < digits(n.get()); figures++ {
			if x.try(value(at, down(n.get(), figures))) || x.try(value(at, up(n.get(), figures))) {
				break
			}
		}
		for {
			half := numbers(x.now)[at].get() / 2
			if half < resolution || !x.try(value(at, up(half, 1))) {
				break
			}
		}
	}
}

// latency makes messages take no time, or always the same.
func latency(x *shrinker) {
	simpler := func(of func(*scenarios.Scenario) *scenarios.Latency) {
		l := of(x.now).Latency
		if l.Max() == 0 {
			return
		}
		for _, other := range []network.Latency{network.Constant(0), network.Constant(time.Duration(up(int64(l.Max()), 1))), network.Constant(l.Max())} {
			if x.try(func(s *scenarios.Scenario) { of(s).Latency = other }) {
				return
			}
		}
	}
	x.try(func(s *scenarios.Scenario) { s.Network.Replies = nil })
	simpler(func(s *scenarios.Scenario) *scenarios.Latency { return &s.Network.Latency })
	if x.now.Network.Replies != nil {
		simpler(func(s *scenarios.Scenario) *scenarios.Latency { return s.Network.Replies })
	}
}
