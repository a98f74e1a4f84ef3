package live

import (
	"slices"
	"time"

	"redlocksim/scenarios"
)

// atSpeed is a scenario in the machine's time, as clients run it. The package documentation says what is not divided. TTLs stay
// whole milliseconds.
func atSpeed(s *scenarios.Scenario, speed int) *scenarios.Scenario {
	x := *s
	by := time.Duration(speed)
	ttl := func(d time.Duration) time.Duration { return (d / by).Round(time.Millisecond) }
	x.Lock = s.Lock.Faster(speed)
	x.Lock.NodeTimeout = nodeTimeout(s, speed)
	x.Timeline = slices.Clone(s.Timeline)
	for i := range x.Timeline {
		x.Timeline[i].Do = slices.Clone(s.Timeline[i].Do)
		for j := range x.Timeline[i].Do {
			step := &x.Timeline[i].Do[j]
			if step.Kind == scenarios.ExtendStep {
				step.For = ttl(step.For)
			} else {
				step.For /= by
			}
		}
	}
	return &x
}

// defaultSpeed is how many times as fast as its scenario a run is by default. A run is as slow as its scenario if that says so,
// has slow replicas or times in whole seconds, or has a fault that must outlast the node timeout and would not when divided.
const defaultSpeed = 5

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

// beyondTimeout lists how long those faults last that outlast the node timeout.
func beyondTimeout(s *scenarios.Scenario) []time.Duration {
	var long []time.Duration
	for i := range s.Timeline {
		if f := s.Timeline[i].Fault; f != nil {
			if d := f.Live(deployment(s)).Silence; d > s.Lock.NodeTimeout {
				long = append(long, d)
			}
		}
	}
	return long
}

// speedOf is how fast a scenario can run. EXPIRE and clocks that are read in seconds count the machine's.
func speedOf(s *scenarios.Scenario) int {
	const clearly = 10 * time.Millisecond
	if s.Lock.Capabilities().Unit >= time.Second {
		return 1
	}
	for _, d := range beyondTimeout(s) {
		if d/defaultSpeed < nodeTimeout(s, defaultSpeed)+clearly {
			return 1
		}
	}
	for i := range s.Timeline {
		if f := s.Timeline[i].Fault; f != nil && f.Live(deployment(s)).Unhurried {
			return 1
		}
	}
	if s.Live.Speed > 0 {
		return min(s.Live.Speed, defaultSpeed)
	}
	return defaultSpeed
}
