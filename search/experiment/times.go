package experiment

import (
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios/protocols"
)

// timesOf are the times at which something ends or begins in a run with these settings, and those just before and just after
// each: by a nanosecond, the millisecond in which Redis counts, a message, and a round trip.
func timesOf(s Space) (times faults.Times) {
	message := s.Base.Network.Latency.Max()
	for _, t := range deadlines(s) {
		for _, by := range []time.Duration{0, 1, time.Millisecond, message, 2 * message} {
			times = append(times, t-by, t+by)
		}
	}
	slices.Sort(times)
	times = slices.Compact(times)
	positive, _ := slices.BinarySearch(times, 1)
	return times[positive:]
}

// deadlines are the times that the settings of a lock set or imply, without those that are zero.
func deadlines(s Space) (all []time.Duration) {
	lock, budget := s.Base.Lock, s.Base.Budget
	own := protocols.Of[protocols.RedlockSettings](lock)
	ttl := lock.TTL
	contextEnds, valid := ends(s)
	retry := protocols.Of[protocols.DelaySettings](lock).Span()
	all = []time.Duration{ttl, 2 * ttl, valid, contextEnds, valid - lock.GuardTime, ttl / 3, 2 * ttl / 3, lock.NodeTimeout, 2 * lock.NodeTimeout,
		retry.Min, retry.Max, own.WakeUp, budget.Pause, budget.Delay}
	if own.Guard != nil {
		all = append(all, own.Guard.MaxTTL)
	}
	for eighths := range time.Duration(7) { // as short as a call's own TTL can be
		all = append(all, ttl*(1+eighths)/8)
	}
	return slices.DeleteFunc(all, func(t time.Duration) bool { return t <= 0 })
}

// ends are how long after its call began a lease of an acquire ends, and its context. Of somebody's lock nobody knows that the
// context ends sooner.
func ends(s Space) (context, lease time.Duration) {
	lock := s.Base.Lock
	lease = lock.TTL
	if protocols.Has[protocols.DriftSettings](lock) {
		lease -= protocols.Of[protocols.DriftSettings](lock).Drift.For(lease)
	}
	if context = lease; s.Foreign == nil && lock.Capabilities().Warns {
		context -= protocols.Of[protocols.RedlockSettings](lock).Lead(lock.TTL, lease)
	}
	return context, lease
}
