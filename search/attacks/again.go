package attacks

import (
	"slices"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// again has the holder rely on renewals for several TTLs when its lock is not the first: it has released one before, over
// connections that have been reset since or not, or lost one while nothing that it sent arrived; or it takes another beside it,
// and releases that. The second client asks when only renewals can have kept the lock.
func again(s *Settings) (built []*scenarios.Scenario) {
	ttl := s.Lock.TTL
	add := func(s *Settings, grants int, before func(*builder) []scenarios.Step) {
		built = append(built, atRightClocks(s, func(b *builder) {
			b.begins(append(before(b), renews(5*ttl), step(scenarios.UnlockStep))...)
			late := b.acquired(4 * ttl)
			late.After.Nth = grants
			b.client(late, second, b.asks(), b.stays())
			b.mustBelieving(second, "acquire-called", holder)
			b.ends(10 * ttl)
		}))
	}
	once := func(b *builder) []scenarios.Step {
		take := b.takes()
		take.Kind, take.For = scenarios.LockStep, 10*ttl
		return []scenarios.Step{renews(3 * ttl), step(scenarios.UnlockStep), b.sleeps(ttl / 4), take}
	}
	add(s, 2, once)
	add(s, 2, func(b *builder) []scenarios.Step {
		released := after(holder, "release-done")
		released.Plus = ttl / 8
		b.fault(released, "reset", &faults.Reset{Links: b.ofHolder()})
		return once(b)
	})
	add(s, 2, func(b *builder) []scenarios.Step {
		b.fault(b.acquired(ttl/2), "partition", &faults.Partition{Links: b.ofHolder(), For: 2 * ttl})
		return once(b)
	})
	two, own := *s, *s.Scenario
	const other = "beside"
	if !slices.Contains(own.Resources, other) {
		own.Resources = append(slices.Clone(own.Resources), other)
	}
	two.Scenario, two.Joint = &own, false
	add(&two, 1, func(b *builder) []scenarios.Step {
		take := scenarios.Step{Kind: scenarios.TryLockStep, Resource: []string{other}}
		b.client(b.acquired(ttl/2), holder, take, renews(2*ttl), step(scenarios.UnlockStep))
		return nil
	})
	return built
}
