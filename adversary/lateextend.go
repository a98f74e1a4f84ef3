package adversary

import (
	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// lateExtend has the holder extend its lock when its lease is long over, and nothing goes wrong besides. A lock that renews
// itself is never late. Meanwhile the second client has the lock, with all nodes or with no more than a quorum, whose keys the
// extension must leave alone; or it asks afterwards, if the extension was granted.
func lateExtend(s *Settings) []*scenarios.Scenario {
	ttl := s.Lock.TTL
	var built []*scenarios.Scenario
	for _, reach := range []int{len(s.Nodes.Names), min(s.Quorum(), len(s.Nodes.Names)), 0} {
		x := newBuilder(s, 0, decimal.Zero, decimal.Zero)
		extend := scenarios.Step{Kind: scenarios.ExtendStep, For: ttl}
		x.client(faults.Trigger{At: x.start}, holder, x.takes(), scenarios.Step{Kind: scenarios.SleepStep, For: 2 * ttl}, extend, x.stays())
		asked := reached(second, "acquire-called")
		if reach == 0 {
			x.client(after(holder, "extend-done"), second, x.asks(), x.stays())
			asked.After = &faults.Moment{Client: holder, Event: "extend-done"}
		} else {
			x.loses(x.ready(second), second, x.Nodes.Names[reach:])
			free := faults.Trigger{After: &faults.Moment{Event: "acquire-done", Client: holder, Resource: s.contended()}, Plus: ttl + ttl/2}
			x.client(free, second, x.asks(), x.stays())
			asked = reached(holder, "extend-called")
			asked.Believing = second
		}
		x.Expect.Reached = append(x.Expect.Reached, asked)
		x.ends(ttl)
		built = append(built, x.Scenario)
	}
	return built
}
