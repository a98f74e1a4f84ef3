//go:build linux

package live

import (
	"slices"
	"time"

	"redlocksim/redlock"
	"redlocksim/scenarios"
)

// atSpeed is a scenario as its clients are to play it: in the machine's time. See the package documentation for what is
// not divided. TTLs stay whole milliseconds.
func atSpeed(s *scenarios.Scenario, speed int) *scenarios.Scenario {
	x := *s
	by := time.Duration(speed)
	ttl := func(d time.Duration) time.Duration { return (d / by).Round(time.Millisecond) }
	x.Lock.TTL = ttl(s.Lock.TTL)
	x.Lock.NodeTimeout = nodeTimeout(s, speed)
	x.Lock.RetryDelay.Min /= by
	x.Lock.RetryDelay.Max /= by
	x.Lock.WakeUp /= by
	// Redis' own milliseconds stay what they are.
	constant := s.Lock.Drift.Constant
	x.Lock.Drift.Constant = max(constant/by, min(constant, redlock.DefaultDrift().Constant))
	x.Lock.ConnectTimeout /= by
	x.Lock.GiveUp /= by
	x.Lock.WaitTimeout = ttl(s.Lock.WaitTimeout)
	x.Lock.Wait.Timeout = ttl(s.Lock.Wait.Timeout)
	if g := s.Lock.Guard; g != nil {
		guard := *g
		guard.MaxTTL = ttl(g.MaxTTL)
		x.Lock.Guard = &guard
	}
	x.Lock.GuardTime /= by
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
