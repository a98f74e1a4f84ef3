// Package speed decides how many times as fast as its scenario a run on tier live is, and what follows from that.
package speed

import (
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/stall"
	"redlocksim/scenarios"
	"redlocksim/sim/redis"
)

// Default is how many times as fast as its scenario a run is by default. A run is as slow as its scenario if that says so,
// has slow replicas or times in whole seconds, or has a fault that must outlast the node timeout and would not when divided.
const Default = 5

// beyondTimeout lists how long those faults last that outlast the node timeout.
func beyondTimeout(s *scenarios.Scenario) []time.Duration {
	var long []time.Duration
	for i := range s.Timeline {
		if f := s.Timeline[i].Fault; f != nil {
			if d := faults.LiveOf(f, Deployment(s)).Silence; d > s.Lock.NodeTimeout {
				long = append(long, d)
			}
		}
	}
	return long
}

// Of is how fast a scenario can run. EXPIRE, clocks that are read in seconds and redis-server's
// snapshots count the machine's seconds.
func Of(s *scenarios.Scenario) int {
	const clearly = 10 * time.Millisecond
	if s.Lock.Capabilities().Unit >= time.Second || s.Nodes.Persistence == redis.Snapshots {
		return 1
	}
	for _, d := range beyondTimeout(s) {
		if d/Default < nodeTimeout(s, Default)+clearly {
			return 1
		}
	}
	for i := range s.Timeline {
		if f := s.Timeline[i].Fault; f != nil && faults.LiveOf(f, Deployment(s)).Unhurried {
			return 1
		}
	}
	if s.Live.Speed > 0 {
		return min(s.Live.Speed, Default)
	}
	return Default
}

// Deployment describes to faults what they would be injected into.
func Deployment(s *scenarios.Scenario) faults.Deployment {
	return faults.Deployment{Protocol: string(s.Lock.Protocol), Subscribes: s.Lock.Capabilities().Subscribes}
}

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

// Disturbing is by how much an overloaded machine must hold a run up to make another scenario of it: a client then comes too
// late for the lease that it was to meet. That is half of the node timeout, since an answer waits for a server and for a
// client, but not more for long node timeouts, since the scenario's moments are no further apart. It is less if a fault
// outlasts the node timeout, or makes one message later than another, by less. Delays below the resolution of the
// measurement never count.
func Disturbing(s *scenarios.Scenario, speed int) time.Duration {
	least := min(nodeTimeout(s, speed), smallestNodeTimeout) / 2
	for i := range s.Timeline {
		if f := s.Timeline[i].Fault; f != nil {
			if apart := faults.LiveOf(f, Deployment(s)).Apart; apart > 0 {
				least = min(least, apart/time.Duration(speed))
			}
		}
	}
	for _, d := range beyondTimeout(s) {
		if more := d/time.Duration(speed) - nodeTimeout(s, speed); more > 0 {
			least = min(least, more)
		}
	}
	return max(least, stall.Resolution)
}
