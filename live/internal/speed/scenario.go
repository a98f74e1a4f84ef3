package speed

import (
	"slices"
	"time"

	"redlocksim/scenarios"
)

// Scenario is a scenario in the machine's time, as clients run it. Package live says what is not divided. TTLs stay whole
// milliseconds.
func Scenario(s *scenarios.Scenario, speed int) *scenarios.Scenario {
	x := *s
	x.Lock = s.Lock.Faster(speed)
	x.Lock.NodeTimeout = nodeTimeout(s, speed)
	x.Timeline = slices.Clone(s.Timeline)
	for i := range x.Timeline {
		x.Timeline[i].Do = slices.Clone(s.Timeline[i].Do)
		for j := range x.Timeline[i].Do {
			x.Timeline[i].Do[j] = x.Timeline[i].Do[j].Faster(speed)
		}
	}
	return &x
}

// smallestNodeTimeout bounds the division of node timeouts: an answer takes the time that the machine needs.
const smallestNodeTimeout = 50 * time.Millisecond

// calmNodeTimeout is the least node timeout of a run without faults, in which an answer is late only if the machine is busy; or
// a quarter of the TTL, if that is less.
const calmNodeTimeout = time.Second

// nodeTimeout is the node timeout of a run.
func nodeTimeout(s *scenarios.Scenario, speed int) time.Duration {
	by := time.Duration(speed)
	d := max(s.Lock.NodeTimeout/by, min(s.Lock.NodeTimeout, smallestNodeTimeout))
	if isFault := func(it scenarios.Item) bool { return it.Fault != nil }; !slices.ContainsFunc(s.Timeline, isFault) {
		d = max(d, min(calmNodeTimeout, s.Lock.TTL/by/4))
	}
	return d
}
