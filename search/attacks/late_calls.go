package attacks

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// atRightClocks builds a scenario in which all clocks are right.
func atRightClocks(s *Settings, build func(*builder)) *scenarios.Scenario {
	b := newBuilder(s, 0, decimal.Zero, decimal.Zero)
	build(b)
	return b.Scenario
}

// begins has the holder take the lock, and then do these steps.
func (b *builder) begins(steps ...scenarios.Step) {
	b.client(faults.Trigger{At: b.start}, holder, append([]scenarios.Step{b.takes()}, steps...)...)
}

func (b *builder) sleeps(d time.Duration) scenarios.Step {
	return scenarios.Step{Kind: scenarios.SleepStep, For: d}
}

// lateExtend has the holder extend its lock when its lease is long over, and nothing goes wrong besides. A lock that renews
// itself is never late. Meanwhile the second client has the lock, with all nodes or with no more than a quorum, whose keys the
// extension must leave alone; or it asks afterwards, if the extension was granted.
func lateExtend(s *Settings) (built []*scenarios.Scenario) {
	ttl := s.Lock.TTL
	for _, reach := range []int{len(s.Nodes.Names), min(s.Quorum(), len(s.Nodes.Names)), 0} {
		built = append(built, atRightClocks(s, func(b *builder) {
			b.begins(b.sleeps(2*ttl), scenarios.Step{Kind: scenarios.ExtendStep, For: ttl}, b.stays())
			if extended := after(holder, "extend-done"); reach == 0 {
				b.client(extended, second, b.asks(), b.stays())
				b.meets(scenarios.Reached{Moment: faults.Moment{Client: second, Event: "acquire-called"}, After: extended.After})
			} else {
				b.loses(b.ready(second), second, b.Nodes.Names[reach:])
				b.client(b.acquired(ttl+ttl/2), second, b.asks(), b.stays())
				b.mustBelieving(holder, "extend-called", second)
			}
			b.ends(ttl)
		}))
	}
	return built
}

// lostExtend loses what the holder sends to extend its lock: to all nodes, to all but one, or to all but one less than a
// quorum. A lock that is renewed is also renewed like that, until long after the lease. The second client asks as soon as a
// quorum is free.
func lostExtend(s *Settings) (built []*scenarios.Scenario) {
	nodes, ttl := s.Nodes.Names, s.Lock.TTL
	quorum := min(s.Quorum(), len(nodes))
	programs := [][]scenarios.Step{{{Kind: scenarios.SleepStep, For: ttl / 2}, {Kind: scenarios.ExtendStep, For: ttl}}}
	if s.Renews && !s.renewsItself() {
		programs = append(programs, []scenarios.Step{renews(4 * ttl)})
	}
	for _, program := range programs {
		for _, reach := range slices.Compact([]int{quorum - 1, min(quorum-1, 1), 0}) {
			built = append(built, atRightClocks(s, func(b *builder) {
				b.loses(b.acquired(0), holder, nodes[reach:])
				b.begins(append(slices.Clone(program), b.stays())...)
				b.client(b.free(), second, b.asks(), b.stays())
				b.must(holder, "extend-called")
				b.must(second, "acquire-done")
				b.ends(4 * ttl)
			}))
		}
	}
	return built
}

// lateRelease has the holder release its lock when its lease is long over and the second client has the lock, whose keys the
// release must leave alone. A rival then asks for the lock. A lock that renews itself is cut off meanwhile. A release that is
// on its way for so long is one of between.
func lateRelease(s *Settings) []*scenarios.Scenario {
	ttl := s.Lock.TTL
	return []*scenarios.Scenario{atRightClocks(s, func(b *builder) {
		b.Clients = append(b.Clients, rival)
		if s.renewsItself() {
			b.fault(b.acquired(0), "partition", &faults.Partition{Links: b.ofHolder(), For: 2*ttl - ttl/8})
		}
		b.begins(b.sleeps(2*ttl), step(scenarios.UnlockStep))
		b.client(b.acquired(2*ttl-ttl/4), second, b.asks(), b.stays())
		b.client(b.acquired(2*ttl+ttl/16), rival, b.asks(), b.stays())
		b.must(holder, "release-called")
		b.mustBelieving(rival, "acquire-called", second)
		b.ends(ttl)
	})}
}

// crash has the holder crash: as soon as its first request for a key has reached a node, as soon as such requests have reached
// a quorum, or once it is granted the lock. A second client asks when all it can have left behind should be over. A rival has
// had the lock before, lest the second is refused where everybody is.
func crash(s *Settings) []*scenarios.Scenario {
	arrived := func(nth int) faults.Trigger {
		return faults.Trigger{After: &faults.Moment{Event: "set-arrived", Client: holder, Nth: nth}}
	}
	moments := []faults.Trigger{arrived(1), arrived(s.Quorum()), after(holder, "acquire-done")}
	if s.Quorum() < 2 {
		moments = moments[1:]
	}
	var built []*scenarios.Scenario
	for i, moment := range moments {
		b := newBuilder(s, 0, s.Rho().Neg(), decimal.Zero)
		b.Expect.Reached = nil
		b.Clients = append(b.Clients, rival)
		for i := range b.Timeline { // nothing of the holder's arrives before it asks for the lock
			if b.Timeline[i].Client == holder {
				b.Timeline[i].Client = rival
			}
		}
		b.client(faults.Trigger{At: b.start}, rival, b.takes(), step(scenarios.UnlockStep))
		b.must(rival, "acquire-done")
		if i == len(moments)-1 {
			b.must(holder, "acquire-done")
		}
		b.client(after(rival, "release-done"), holder, b.takes(), b.stays())
		b.fault(moment, "crash", &faults.Crash{Client: holder})
		over := after(holder, "crash")
		over.Plus = 2 * s.Lock.TTL
		b.client(over, second, b.asks(), step(scenarios.UnlockStep))
		b.must(holder, "crash")
		b.must(second, "acquire-done")
		b.ends(s.Lock.TTL)
		built = append(built, b.Scenario)
	}
	return built
}
