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
	return each(s, s.Rho(), s.Rho().Neg(), func(b *builder) {
		b.holds(b.stays())
		b.suspends(b.granted())
		b.client(b.letGo(), second, b.asks(), b.stays())
		// The nodes are free: nothing but the holder's belief can be in the way.
		b.must(second, "acquire-done")
		b.ends(s.Budget.ClockStep + s.Budget.Suspend)
	})
}

func restart(s *Settings) []*scenarios.Scenario {
	return each(s, decimal.Zero, s.Rho().Neg(), func(b *builder) {
		b.holds(b.stays())
		b.suspends(b.granted())
		b.stepBack()
		if s.Budget.RestartDelay == nil {
			// Nodes that lost their memory stay away: there is nothing to gain.
			b.client(b.granted(), second, b.asks(), b.stays())
			b.must(second, "acquire-called")
			b.ends(s.Budget.Suspend + s.Budget.ClockStep)
			return
		}
		b.forget(b.voters[:b.needed()], *s.Budget.RestartDelay)
		b.ends(*s.Budget.RestartDelay + s.Budget.Suspend + s.Budget.ClockStep)
	})
}

// memoryLoss has locks evicted. A node that stops may keep them on its disk, or not vote when it is back; one that never
// stopped votes at once.
func memoryLoss(s *Settings) []*scenarios.Scenario {
	return each(s, decimal.Zero, decimal.Zero, func(b *builder) {
		b.holds(b.stays())
		b.evicts(b.granted(), b.voters[:min(s.Budget.MemoryLoss, len(b.voters))], faults.Locks)
		ask := b.granted()
		ask.Plus = b.held
		b.client(ask, second, b.asks(), b.stays())
		b.mustBelieving(second, "acquire-called", holder)
		b.ends(0)
	})
}

// evicts evicts keys from nodes, before what is later in the timeline happens at the same moment.
func (b *builder) evicts(when faults.Trigger, nodes []string, keys faults.Evicted) {
	for _, node := range nodes {
		b.fault(when, "evict", &faults.Evict{Node: node, Keys: keys})
	}
}

// forget stops nodes once the holder has the lock, and has the second client ask so that its requests arrive when they are
// back.
func (b *builder) forget(nodes []string, delay time.Duration) {
	ask := b.granted()
	asked := reached(second, "acquire-called")
	for _, node := range nodes {
		b.stops(b.granted(), node, delay)
		ask = faults.Trigger{After: &faults.Moment{Event: "restart", Node: node}}
		asked.After = ask.After
	}
	ask.Plus = b.held
	if way := b.settings.Requests().Min(); len(nodes) > 0 && way > 0 && delay > way {
		// The requests are on their way while the nodes start, and arrive as soon as they are back.
		ask = b.granted()
		ask.Plus = max(delay-way+1, b.held)
		asked = scenarios.Reached{Moment: *asked.After, After: &faults.Moment{Client: second, Event: "acquire-called"}}
	}
	b.client(ask, second, b.asks(), b.stays())
	b.meets(asked)
	if by := b.Budget.ClockStep; by > 0 && b.settings.trusting() && len(nodes) > 0 {
		// The first request begins a quarantine, which a step of the node's clock can end. No lock is on the node that the step
		// could change, so that the budget does not bound it.
		by = max(by, 2*protocols.Of[protocols.RedlockSettings](b.Lock).Guard.MaxTTL)
		refused := after(second, "acquire-failed")
		for _, node := range nodes {
			b.fault(refused, "clock-step", &faults.ClockStep{Process: node, By: by})
		}
		b.client(refused, second, step(scenarios.TryLockStep), b.stays())
	}
}

// stops stops a node for some time, by a power loss unless the budget excludes that.
func (b *builder) stops(when faults.Trigger, node string, delay time.Duration) {
	outage := faults.Outage{Node: node, RestartAfter: &delay}
	if b.Budget.NoPowerLoss {
		b.fault(when, "kill", &faults.Kill{Outage: outage})
		return
	}
	b.fault(when, "power-loss", &faults.PowerLoss{Outage: outage})
}

// failover replaces nodes by replicas which lag behind, and has what is left of the budget evicted. The replicas are those of
// the settings, or else each node has one.
func failover(s *Settings) []*scenarios.Scenario {
	return each(replicatedFirst(s), decimal.Zero, decimal.Zero, func(b *builder) {
		replicaOf := map[string]string{}
		for _, r := range b.Nodes.Replicas {
			replicaOf[r.Key] = r.Value[0]
		}
		if len(replicaOf) == 0 {
			for _, node := range b.Nodes.Names {
				replicaOf[node] = node + "-replica"
				b.Nodes.Replicas = append(b.Nodes.Replicas, strictyaml.Entry[[]string]{Key: node, Value: []string{replicaOf[node]}})
			}
		}
		replicated := slices.DeleteFunc(slices.Clone(b.voters), func(node string) bool { return replicaOf[node] == "" })
		lost := replicated[:min(s.Budget.MemoryLoss, len(replicated))]
		others := slices.DeleteFunc(slices.Clone(b.voters), func(node string) bool { return slices.Contains(lost, node) })
		for _, node := range lost {
			lag := &faults.Partition{Links: faults.Links{Nodes: []string{node}, Peers: []string{replicaOf[node]}}}
			b.fault(faults.Trigger{}, "partition", lag)
		}
		b.holds(b.stays())
		ask := b.granted()
		b.evicts(ask, others[:min(s.Budget.MemoryLoss-len(lost), len(others))], faults.Locks)
		for _, node := range lost {
			down := &faults.PowerLoss{}
			down.Node = node
			b.fault(b.granted(), "power-loss", down)
			stopped := faults.Trigger{After: &faults.Moment{Event: "power-loss", Node: node}}
			b.fault(stopped, "promote", &faults.Promote{Node: node, Replica: replicaOf[node]})
			ask = faults.Trigger{After: &faults.Moment{Event: "promote", Node: replicaOf[node]}}
		}
		ask.Plus = b.held
		b.client(ask, second, b.asks(), b.stays())
		b.mustBelieving(second, "acquire-called", holder)
		b.ends(0)
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
	return each(s, decimal.Zero, decimal.Zero, func(b *builder) {
		lost := b.voters[:min(s.Budget.CounterLoss, len(b.voters))]
		program := []scenarios.Step{}
		for range 3 { // so that the counters are above those of nodes that never voted
			program = append(program, b.takes(), step(scenarios.UnlockStep))
		}
		b.client(faults.Trigger{At: b.start}, holder, program...)
		released := after(holder, "release-done")
		released.After.Nth = 3
		b.evicts(released, lost, faults.Counters)
		known := slices.DeleteFunc(slices.Clone(b.voters), func(node string) bool { return slices.Contains(lost, node) })
		b.loses(b.ready(second), second, known[:min(len(b.Nodes.Names)-s.Quorum(), len(known))])
		steps := []scenarios.Step{b.asks(), b.writes()}
		if s.guarded() { // it reaches too few nodes to prepare later
			steps = slices.Insert(steps, 0, step(scenarios.PrepareStep))
		}
		b.client(released, second, steps...)
		b.must(second, "write-called")
		b.ends(0)
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
		built = append(built, atRightClocks(s, func(b *builder) {
			b.loses(faults.Trigger{}, holder, others)
			b.loses(faults.Trigger{}, second, all[:reach])
			b.holds(b.stays())
			b.client(b.granted(), second, b.asks(), b.stays())
			b.mustBelieving(second, "acquire-called", holder)
			b.ends(2 * time.Duration(len(all)) * connecting)
		}))
	}
	return built
}

func pause(s *Settings) []*scenarios.Scenario {
	return each(s, s.Rho(), s.Rho().Neg(), func(b *builder) {
		b.holds(step(scenarios.LingerStep), b.writes(), b.stays())
		stopped := after(holder, faults.Checked)
		if s.Pause > 0 {
			b.fault(stopped, "pause", &faults.Pause{Process: holder, For: s.Pause})
			// The suspension begins before the pause ends, so that the holder does nothing in between.
			stopped.Plus = s.Pause - 1
		}
		b.suspends(stopped)
		b.client(b.letGo(), second, b.asks(), b.writes(), b.stays())
		b.must(holder, faults.Checked)
		b.must(holder, "write-called")
		b.must(second, "acquire-done")
		b.must(second, "write-called")
		b.meets(scenarios.Reached{Moment: faults.Moment{Event: "write-effect", Nth: 2}})
		b.ends(s.Pause + s.Budget.ClockStep + s.Budget.Suspend + b.Budget.Delay)
	})
}

func timeout(s *Settings) []*scenarios.Scenario {
	b := newBuilder(s, 0, decimal.Zero, s.Rho())
	b.Expect.Reached = nil // that it is granted is the question
	b.slowly()
	b.client(faults.Trigger{At: b.start}, holder, b.takes(), step(scenarios.UnlockStep))
	b.ends(s.Requests().Max() + s.Replies().Max())
	// A second client asks afterwards, since a run with one client tests nothing.
	b.client(faults.Trigger{At: b.Duration}, second, b.asks(), step(scenarios.UnlockStep))
	b.Duration += time.Minute
	b.must(holder, "acquire-called")
	b.must(second, "acquire-called")
	return []*scenarios.Scenario{b.Scenario}
}

// work has the holder work for some time of its fast clock, and renew its lock meanwhile if it does.
func work(s *Settings) []*scenarios.Scenario {
	b := newBuilder(s, 0, decimal.Zero, s.Rho())
	b.slowly()
	during := scenarios.Step{Kind: scenarios.SleepStep, For: time.Duration(scaled(s.Work, s.Rho()))}
	if s.Renews && s.Work > 0 && !s.renewsItself() {
		during.Kind = scenarios.RenewStep
	}
	b.holds(during, b.writes(), step(scenarios.UnlockStep))
	// A second client asks meanwhile, since a run with one client tests nothing.
	b.client(b.granted(), second, b.asks(), step(scenarios.UnlockStep))
	b.must(second, "acquire-called")
	b.ends(s.Work)
	return []*scenarios.Scenario{b.Scenario}
}
