package attacks

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

func clocks(s *Settings) []*scenarios.Scenario {
	return each(s, s.Rho(), s.Rho().Neg(), func(x *builder) {
		x.holds(x.stays())
		x.suspends(x.granted())
		x.client(x.letGo(), second, x.asks(), x.stays())
		// The nodes are free: nothing but the holder's belief can be in the way.
		x.must(second, "acquire-done")
		x.ends(s.Budget.ClockStep + s.Budget.Suspend)
	})
}

func restart(s *Settings) []*scenarios.Scenario {
	return each(s, decimal.Zero, s.Rho().Neg(), func(x *builder) {
		x.holds(x.stays())
		x.suspends(x.granted())
		x.stepBack()
		if s.Budget.RestartDelay == nil {
			// Nodes that lost their memory stay away: there is nothing to gain.
			x.client(x.granted(), second, x.asks(), x.stays())
			x.must(second, "acquire-called")
			x.ends(s.Budget.Suspend + s.Budget.ClockStep)
			return
		}
		x.forget(x.voters[:x.needed()], *s.Budget.RestartDelay)
		x.ends(*s.Budget.RestartDelay + s.Budget.Suspend + s.Budget.ClockStep)
	})
}

// memoryLoss has locks evicted. A node that stops may keep them on its disk, or not vote when it is back; one that never
// stopped votes at once.
func memoryLoss(s *Settings) []*scenarios.Scenario {
	return each(s, decimal.Zero, decimal.Zero, func(x *builder) {
		x.holds(x.stays())
		x.evicts(x.granted(), x.voters[:min(s.Budget.MemoryLoss, len(x.voters))], faults.Locks)
		ask := x.granted()
		ask.Plus = x.held
		x.client(ask, second, x.asks(), x.stays())
		x.mustBelieving(second, "acquire-called", holder)
		x.ends(0)
	})
}

// evicts evicts keys from nodes, before what is later in the timeline happens at the same moment.
func (x *builder) evicts(when faults.Trigger, nodes []string, keys faults.Evicted) {
	for _, node := range nodes {
		x.fault(when, "evict", &faults.Evict{Node: node, Keys: keys})
	}
}

// forget stops nodes once the holder has the lock, and has the second client ask so that its requests arrive when they are
// back.
func (x *builder) forget(nodes []string, delay time.Duration) {
	ask := x.granted()
	asked := reached(second, "acquire-called")
	for _, node := range nodes {
		x.stops(x.granted(), node, delay)
		ask = faults.Trigger{After: &faults.Moment{Event: "restart", Node: node}}
		asked.After = ask.After
	}
	ask.Plus = x.held
	if way := x.settings.Requests().Min(); len(nodes) > 0 && way > 0 && delay > way {
		// The requests are on their way while the nodes start, and arrive as soon as they are back.
		ask = x.granted()
		ask.Plus = max(delay-way+1, x.held)
		asked = scenarios.Reached{Moment: *asked.After, After: &faults.Moment{Client: second, Event: "acquire-called"}}
	}
	x.client(ask, second, x.asks(), x.stays())
	x.meets(asked)
	if by := x.Budget.ClockStep; by > 0 && x.settings.trusting() && len(nodes) > 0 {
		// The first request begins a quarantine, which a step of the node's clock can end. No lock is on the node that the step
		// could change, so that the budget does not bound it.
		by = max(by, 2*protocols.Of[protocols.RedlockSettings](x.Lock).Guard.MaxTTL)
		refused := after(second, "acquire-failed")
		for _, node := range nodes {
			x.fault(refused, "clock-step", &faults.ClockStep{Process: node, By: by})
		}
		x.client(refused, second, step(scenarios.TryLockStep), x.stays())
	}
}

// stops stops a node for some time, by a power loss unless the budget excludes that.
func (x *builder) stops(when faults.Trigger, node string, delay time.Duration) {
	outage := faults.Outage{Node: node, RestartAfter: &delay}
	if x.Budget.NoPowerLoss {
		x.fault(when, "kill", &faults.Kill{Outage: outage})
		return
	}
	x.fault(when, "power-loss", &faults.PowerLoss{Outage: outage})
}

// failover replaces nodes by replicas which lag behind, and has what is left of the budget evicted. The replicas are those of
// the settings, or else each node has one.
func failover(s *Settings) []*scenarios.Scenario {
	return each(replicatedFirst(s), decimal.Zero, decimal.Zero, func(x *builder) {
		replicaOf := map[string]string{}
		for _, r := range x.Nodes.Replicas {
			replicaOf[r.Key] = r.Value[0]
		}
		if len(replicaOf) == 0 {
			for _, node := range x.Nodes.Names {
				replicaOf[node] = node + "-replica"
				x.Nodes.Replicas = append(x.Nodes.Replicas, strictyaml.Entry[[]string]{Key: node, Value: []string{replicaOf[node]}})
			}
		}
		replicated := slices.DeleteFunc(slices.Clone(x.voters), func(node string) bool { return replicaOf[node] == "" })
		lost := replicated[:min(s.Budget.MemoryLoss, len(replicated))]
		others := slices.DeleteFunc(slices.Clone(x.voters), func(node string) bool { return slices.Contains(lost, node) })
		for _, node := range lost {
			lag := &faults.Partition{Links: faults.Links{Nodes: []string{node}, Peers: []string{replicaOf[node]}}}
			x.fault(faults.Trigger{}, "partition", lag)
		}
		x.holds(x.stays())
		ask := x.granted()
		x.evicts(ask, others[:min(s.Budget.MemoryLoss-len(lost), len(others))], faults.Locks)
		for _, node := range lost {
			down := &faults.PowerLoss{}
			down.Node = node
			x.fault(x.granted(), "power-loss", down)
			stopped := faults.Trigger{After: &faults.Moment{Event: "power-loss", Node: node}}
			x.fault(stopped, "promote", &faults.Promote{Node: node, Replica: replicaOf[node]})
			ask = faults.Trigger{After: &faults.Moment{Event: "promote", Node: replicaOf[node]}}
		}
		ask.Plus = x.held
		x.client(ask, second, x.asks(), x.stays())
		x.mustBelieving(second, "acquire-called", holder)
		x.ends(0)
	})
}

// replicatedFirst is the settings with those nodes as the first to vote that have replicas.
func replicatedFirst(s *Settings) *Settings {
	first := *s
	scenario := *s.Scenario
	first.Scenario = &scenario
	scenario.Nodes.Names = slices.Clone(s.Nodes.Names)
	lacks := func(node string) int {
		if slices.ContainsFunc(s.Nodes.Replicas, func(r strictyaml.Entry[[]string]) bool { return r.Key == node }) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(scenario.Nodes.Names, func(a, b string) int { return lacks(a) - lacks(b) })
	return &first
}

// counters has the fencing counters evicted on which tokens rest, once nobody holds the lock: a node that stops may keep them
// on its disk. The second client reaches no more of the nodes that remember them than it needs for a quorum.
func counters(s *Settings) []*scenarios.Scenario {
	return each(s, decimal.Zero, decimal.Zero, func(x *builder) {
		lost := x.voters[:min(s.Budget.CounterLoss, len(x.voters))]
		program := []scenarios.Step{}
		for range 3 { // so that the counters are above those of nodes that never voted
			program = append(program, x.takes(), step(scenarios.UnlockStep))
		}
		x.client(faults.Trigger{At: x.start}, holder, program...)
		released := after(holder, "release-done")
		released.After.Nth = 3
		x.evicts(released, lost, faults.Counters)
		known := slices.DeleteFunc(slices.Clone(x.voters), func(node string) bool { return slices.Contains(lost, node) })
		x.loses(x.ready(second), second, known[:min(len(x.Nodes.Names)-s.Quorum(), len(known))])
		steps := []scenarios.Step{x.asks(), x.writes()}
		if s.guarded() { // it reaches too few nodes to prepare later
			steps = slices.Insert(steps, 0, step(scenarios.PrepareStep))
		}
		x.client(released, second, steps...)
		x.must(second, "write-called")
		x.ends(0)
	})
}

// split lets each client reach only nodes that the other cannot. A lock that ignores unreachable nodes then has a quorum of the
// rest. If the holder is not granted the lock like that, a second try lets it reach all nodes.
func split(s *Settings) []*scenarios.Scenario {
	all := s.Nodes.Names
	reach := min(s.Quorum(), len(all))
	connecting := protocols.Of[protocols.RedlockPlainSettings](s.Lock).ConnectTimeout
	if connecting > 0 {
		reach = (len(all) + 1) / 2
	}
	var built []*scenarios.Scenario
	for _, others := range [][]string{all[reach:], nil} {
		built = append(built, atRightClocks(s, func(x *builder) {
			x.loses(faults.Trigger{}, holder, others)
			x.loses(faults.Trigger{}, second, all[:reach])
			x.holds(x.stays())
			x.client(x.granted(), second, x.asks(), x.stays())
			x.mustBelieving(second, "acquire-called", holder)
			x.ends(2 * time.Duration(len(all)) * connecting)
		}))
	}
	return built
}

func pause(s *Settings) []*scenarios.Scenario {
	return each(s, s.Rho(), s.Rho().Neg(), func(x *builder) {
		x.holds(step(scenarios.LingerStep), x.writes(), x.stays())
		stopped := after(holder, faults.Checked)
		if s.Pause > 0 {
			x.fault(stopped, "pause", &faults.Pause{Process: holder, For: s.Pause})
			// The suspension begins before the pause ends, so that the holder does nothing in between.
			stopped.Plus = s.Pause - 1
		}
		x.suspends(stopped)
		x.client(x.letGo(), second, x.asks(), x.writes(), x.stays())
		x.must(holder, faults.Checked)
		x.must(holder, "write-called")
		x.must(second, "acquire-done")
		x.must(second, "write-called")
		x.meets(scenarios.Reached{Moment: faults.Moment{Event: "write-effect", Nth: 2}})
		x.ends(s.Pause + s.Budget.ClockStep + s.Budget.Suspend + x.Budget.Delay)
	})
}

func timeout(s *Settings) []*scenarios.Scenario {
	x := newBuilder(s, 0, decimal.Zero, s.Rho())
	x.Expect.Reached = nil // that it is granted is the question
	x.slowly()
	x.client(faults.Trigger{At: x.start}, holder, x.takes(), step(scenarios.UnlockStep))
	x.ends(s.Requests().Max() + s.Replies().Max())
	// A second client asks afterwards, since a run with one client tests nothing.
	x.client(faults.Trigger{At: x.Duration}, second, x.asks(), step(scenarios.UnlockStep))
	x.Duration += time.Minute
	x.must(holder, "acquire-called")
	x.must(second, "acquire-called")
	return []*scenarios.Scenario{x.Scenario}
}

// work has the holder work for some time of its fast clock, and renew its lock meanwhile if it does.
func work(s *Settings) []*scenarios.Scenario {
	x := newBuilder(s, 0, decimal.Zero, s.Rho())
	x.slowly()
	during := scenarios.Step{Kind: scenarios.SleepStep, For: time.Duration(scaled(s.Work, s.Rho()))}
	if s.Renews && s.Work > 0 && !s.renewsItself() {
		during.Kind = scenarios.RenewStep
	}
	x.holds(during, x.writes(), step(scenarios.UnlockStep))
	// A second client asks meanwhile, since a run with one client tests nothing.
	x.client(x.granted(), second, x.asks(), step(scenarios.UnlockStep))
	x.must(second, "acquire-called")
	x.ends(s.Work)
	return []*scenarios.Scenario{x.Scenario}
}
