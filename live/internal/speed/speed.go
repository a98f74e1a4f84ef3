// Package speed decides how many times as fast as its scenario a run on tier live is, and what follows from that.
package speed

import (
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
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

// Of is how fast a scenario can run. EXPIRE and clocks that are read in seconds count the machine's.
func Of(s *scenarios.Scenario) int {
	const clearly = 10 * time.Millisecond
	if s.Lock.Capabilities().Unit >= time.Second {
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
