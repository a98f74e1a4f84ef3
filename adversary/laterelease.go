package adversary

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/sim/network"
)

// lateRelease has a release of the holder reach the nodes when its lease is long over and the second client has the lock,
// whose keys it must leave alone: the holder calls it late, or it calls in time and the network is slow. A rival then asks for
// the lock. A lock that renews itself is cut off meanwhile.
func lateRelease(s *Settings) []*scenarios.Scenario {
	ttl := s.Lock.TTL
	var built []*scenarios.Scenario
	for _, slow := range []bool{false, true} {
		x := newBuilder(s, 0, decimal.Zero, decimal.Zero)
		x.Clients = append(x.Clients, rival)
		granted := faults.Trigger{After: &faults.Moment{Event: "acquire-done", Client: holder, Resource: s.contended()}}
		work := 2 * ttl
		if slow {
			work = ttl / 2
			x.Budget.Delay = max(x.Budget.Delay, work+ttl)
			late := &faults.Delay{Links: faults.Links{Clients: []string{holder}, Nodes: slices.Clone(x.Nodes.Names)}, By: work + ttl}
			late.Direction = network.Requests
			x.fault(after(holder, "release-called"), "delay", late)
		} else if s.renewsItself() {
			cut := &faults.Partition{Links: faults.Links{Clients: []string{holder}, Nodes: slices.Clone(x.Nodes.Names)}, For: work - ttl/8}
			x.fault(granted, "partition", cut)
		}
		x.client(faults.Trigger{At: x.start}, holder, x.takes(), scenarios.Step{Kind: scenarios.SleepStep, For: work}, step(scenarios.UnlockStep))
		for _, next := range []struct {
			client string
			plus   time.Duration
		}{{second, 2*ttl - ttl/4}, {rival, 2*ttl + ttl/16}} {
			when := granted
			when.Plus = next.plus
			x.client(when, next.client, x.asks(), x.stays())
		}
		x.must(holder, "release-called")
		asked := reached(rival, "acquire-called")
		asked.Believing = second
		x.Expect.Reached = append(x.Expect.Reached, asked)
		x.ends(ttl)
		built = append(built, x.Scenario)
	}
	return built
}
