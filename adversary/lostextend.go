package adversary

import (
	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// lostExtend loses what the holder sends to extend its lock: to all nodes, to all but one, or to all but one less than a
// quorum. A lock that is renewed is also renewed like that, until long after the lease. The second client asks as soon as a
// quorum is free.
func lostExtend(s *Settings) []*scenarios.Scenario {
	nodes, ttl := s.Nodes.Names, s.Lock.TTL
	extend := []scenarios.Step{{Kind: scenarios.SleepStep, For: ttl / 2}, {Kind: scenarios.ExtendStep, For: ttl}}
	programs := [][]scenarios.Step{extend}
	if s.Renews && !s.renewsItself() {
		programs = append(programs, []scenarios.Step{{Kind: scenarios.RenewStep, For: 4 * ttl}})
	}
	var built []*scenarios.Scenario
	for _, program := range programs {
		last := -1
		for _, reach := range []int{min(s.Quorum(), len(nodes)) - 1, 1, 0} {
			if reach == last || reach >= min(s.Quorum(), len(nodes)) {
				continue
			}
			last = reach
			x := newBuilder(s, 0, decimal.Zero, decimal.Zero)
			granted := faults.Trigger{After: &faults.Moment{Event: "acquire-done", Client: holder, Resource: s.contended()}}
			x.loses(granted, holder, nodes[reach:])
			x.client(faults.Trigger{At: x.start}, holder, append(append([]scenarios.Step{x.takes()}, program...), x.stays())...)
			free := faults.Trigger{After: &faults.Moment{Event: faults.NodesFree, Client: holder, Resource: s.contended(), Nth: s.Quorum(), Lead: s.Requests().Min()}}
			x.client(free, second, x.asks(), x.stays())
			x.must(holder, "extend-called")
			x.must(second, "acquire-done")
			x.ends(4 * ttl)
			built = append(built, x.Scenario)
		}
	}
	return built
}
