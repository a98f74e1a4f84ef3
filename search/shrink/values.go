package shrink

import (
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
		was := n.get()
		broken, holds, rounder := was, int64(0), up
		if n.sized.Shrinks {
			holds, rounder = was+int64(x.now.Duration), down
		}
		// A fault whose size is not in the file, as of a pause that lasts until a resume, has none to turn.
		if c := x.edited(value(at, (broken+holds)/2)); c == nil || len(numbers(c.now)) != len(numbers(x.now)) || weigh(c.now, c.data, x.base)[words] != x.weight[words] {
			continue
		}
		for max(broken-holds, holds-broken) > resolution {
			middle := (broken + holds) / 2 / resolution * resolution
			if middle == broken || middle == holds {
				break
			}
			if x.breaks(value(at, middle)) {
				broken = middle
			} else {
				holds = middle
			}
		}
		for n := 1; ; n++ {
			round := rounder(broken, n)
			if round == was || x.try(value(at, round)) || round == broken {
				break
			}
		}
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
		for _, other := range []network.Latency{network.Constant(0), network.Constant(time.Duration(up(int64(l.Max()), 1))), network.Constant(l.Max()), network.Uniform(l.Points[0].At, l.Max())} {
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
