package attacks

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/sim/network"
)

// atRightClocks builds a scenario in which all clocks are right.
func atRightClocks(s *Settings, build func(*builder)) *scenarios.Scenario {
	x := newBuilder(s, 0, decimal.Zero, decimal.Zero)
	build(x)
	return x.Scenario
}

// begins has the holder take the lock, and then do these steps.
func (x *builder) begins(steps ...scenarios.Step) {
	x.client(faults.Trigger{At: x.start}, holder, append([]scenarios.Step{x.takes()}, steps...)...)
}

func (x *builder) sleeps(d time.Duration) scenarios.Step {
	return scenarios.Step{Kind: scenarios.SleepStep, For: d}
}

// lateExtend has the holder extend its lock when its lease is long over, and nothing goes wrong besides. A lock that renews
// itself is never late. Meanwhile the second client has the lock, with all nodes or with no more than a quorum, whose keys the
// extension must leave alone; or it asks afterwards, if the extension was granted.
func lateExtend(s *Settings) (built []*scenarios.Scenario) {
	ttl := s.Lock.TTL
	for _, reach := range []int{len(s.Nodes.Names), min(s.Quorum(), len(s.Nodes.Names)), 0} {
		built = append(built, atRightClocks(s, func(x *builder) {
			x.begins(x.sleeps(2*ttl), scenarios.Step{Kind: scenarios.ExtendStep, For: ttl}, x.stays())
			if extended := after(holder, "extend-done"); reach == 0 {
				x.client(extended, second, x.asks(), x.stays())
				x.meets(scenarios.Reached{Moment: faults.Moment{Client: second, Event: "acquire-called"}, After: extended.After})
			} else {
				x.loses(x.ready(second), second, x.Nodes.Names[reach:])
				x.client(x.acquired(ttl+ttl/2), second, x.asks(), x.stays())
				x.mustBelieving(holder, "extend-called", second)
			}
			x.ends(ttl)
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
		programs = append(programs, []scenarios.Step{{Kind: scenarios.RenewStep, For: 4 * ttl}})
	}
	for _, program := range programs {
		for _, reach := range slices.Compact([]int{quorum - 1, min(quorum-1, 1), 0}) {
			built = append(built, atRightClocks(s, func(x *builder) {
				x.loses(x.acquired(0), holder, nodes[reach:])
				x.begins(append(slices.Clone(program), x.stays())...)
				x.client(x.free(), second, x.asks(), x.stays())
				x.must(holder, "extend-called")
				x.must(second, "acquire-done")
				x.ends(4 * ttl)
			}))
		}
	}
	return built
}

// lateRelease has a release of the holder reach the nodes when its lease is long over and the second client has the lock,
// whose keys it must leave alone: the holder calls it late, or it calls in time and the network is slow. A rival then asks for
// the lock. A lock that renews itself is cut off meanwhile.
func lateRelease(s *Settings) (built []*scenarios.Scenario) {
	ttl := s.Lock.TTL
	for _, slow := range []bool{false, true} {
		built = append(built, atRightClocks(s, func(x *builder) {
			x.Clients = append(x.Clients, rival)
			links, work := faults.Links{Clients: []string{holder}, Nodes: slices.Clone(x.Nodes.Names)}, 2*ttl
			if slow {
				work = ttl / 2
				x.Budget.Delay = max(x.Budget.Delay, work+ttl)
				links.Direction = network.Requests
				x.fault(after(holder, "release-called"), "delay", &faults.Delay{Links: links, By: work + ttl})
			} else if s.renewsItself() {
				x.fault(x.acquired(0), "partition", &faults.Partition{Links: links, For: work - ttl/8})
			}
			x.begins(x.sleeps(work), step(scenarios.UnlockStep))
			x.client(x.acquired(2*ttl-ttl/4), second, x.asks(), x.stays())
			x.client(x.acquired(2*ttl+ttl/16), rival, x.asks(), x.stays())
			x.must(holder, "release-called")
			x.mustBelieving(rival, "acquire-called", second)
			x.ends(ttl)
		}))
	}
	return built
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
		x := newBuilder(s, 0, s.Rho().Neg(), decimal.Zero)
		x.Expect.Reached = nil
		x.Clients = append(x.Clients, rival)
		for i := range x.Timeline { // nothing of the holder's arrives before it asks for the lock
			if x.Timeline[i].Client == holder {
				x.Timeline[i].Client = rival
			}
		}
		x.client(faults.Trigger{At: x.start}, rival, x.takes(), step(scenarios.UnlockStep))
		x.must(rival, "acquire-done")
		if i == len(moments)-1 {
			x.must(holder, "acquire-done")
		}
		x.client(after(rival, "release-done"), holder, x.takes(), x.stays())
		x.fault(moment, "crash", &faults.Crash{Client: holder})
		over := after(holder, "crash")
		over.Plus = 2 * s.Lock.TTL
		x.client(over, second, x.asks(), step(scenarios.UnlockStep))
		x.must(holder, "crash")
		x.must(second, "acquire-done")
		x.ends(s.Lock.TTL)
		built = append(built, x.Scenario)
	}
	return built
}
