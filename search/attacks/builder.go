package attacks

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/storage"
)

// The clients of all attacks.
const (
	holder = "client-1"
	second = "client-2"
	// rival is there where nodes refuse the holder because they are held, to try what a late release has let go, and to show
	// that the lock is granted at all.
	rival = "client-3"
)

// redisTick is the resolution of the clock of Redis.
const redisTick = time.Millisecond

// votes is how the holder gets as few votes as possible.
type votes uint8

const (
	// refused: the nodes beyond a quorum are down, and start again once the holder has the lock.
	refused votes = iota
	// lost: the holder's requests to the nodes beyond a quorum are lost.
	lost
	// held: the nodes beyond a quorum have the key of another client for a moment longer, for locks that are not granted if a
	// node fails.
	held
	// all: every node votes, for locks that are not granted otherwise.
	all
)

// builder builds the scenario of an attack.
type builder struct {
	*scenarios.Scenario
	settings *Settings
	// start is when the holder asks.
	start time.Duration
	// voters are the nodes that vote for the holder.
	voters []string
	// held is for how long after the grant the other nodes refuse the second client, too.
	held time.Duration
}

// each builds a scenario for each way in which the holder can get its votes.
func each(s *Settings, nodesRate, holdersRate decimal.Decimal, build func(*builder)) []*scenarios.Scenario {
	ways := []votes{refused, lost, held, all}
	switch {
	case s.Quorum() >= len(s.Nodes.Names):
		ways = []votes{all}
	case s.guarded(): // nodes that were down wait before they vote
		ways = []votes{lost, all}
	case protocols.Of[protocols.RedlockPlainSettings](s.Lock).FailedNode == protocols.NoVote:
		ways = []votes{refused, lost, all}
	}
	var built []*scenarios.Scenario
	for _, way := range ways {
		before := time.Duration(0)
		if way == held {
			before = s.Lock.TTL - redisTick
		}
		b := newBuilder(s, before, nodesRate, holdersRate)
		b.vote(way)
		build(b)
		built = append(built, b.Scenario)
	}
	return built
}

// newBuilder starts from a world in which clocks are as wrong as the budget allows and messages as fast as possible. The
// holder asks just before the clock of Redis moves to the next millisecond: a key lives until that clock, in whole
// milliseconds, is past its deadline, so this one outlives its TTL by one nanosecond, the least possible. Whole milliseconds
// can pass before that.
func newBuilder(s *Settings, before time.Duration, nodesRate, holdersRate decimal.Decimal) *builder {
	b := &builder{Scenario: s.Settings(), settings: s, voters: s.Nodes.Names}
	b.Name, b.Title = "attack", "attack"
	b.Clients = []string{holder, second}
	b.hurry()
	if s.guarded() {
		b.client(faults.Trigger{}, holder, scenarios.Step{Kind: scenarios.PrepareStep})
		b.Expect.Reached = append(b.Expect.Reached, scenarios.Reached{Moment: faults.Moment{Client: holder, Event: faults.Prepared},
			Before: &faults.Moment{Client: holder, Event: "acquire-called"}})
		b.start = 2 * s.Lock.NodeTimeout
	}
	landed := b.start + time.Duration(scaled(s.Requests().Min(), nodesRate))
	b.start += before + ((redisTick-1-landed)%redisTick+redisTick)%redisTick
	b.rate(holder, holdersRate)
	for _, node := range b.Nodes.Names {
		b.rate(node, nodesRate)
	}
	b.must(holder, "acquire-done")
	return b
}

// hurry makes every message as fast as the network allows, except those of the holder to the storage, which are as slow as they
// can be.
func (b *builder) hurry() {
	s := b.settings
	fast := scenarios.Latency{Latency: network.Constant(s.Replies().Min())}
	b.Network = scenarios.Network{Latency: scenarios.Latency{Latency: network.Constant(s.Requests().Min())}, Replies: &fast}
	b.Budget.Delay += s.slowest()
	if b.Budget.Delay > 0 {
		slow := &faults.Delay{By: b.Budget.Delay}
		slow.Clients, slow.Nodes, slow.Direction = []string{holder}, []string{storage.Name}, network.Requests
		b.fault(faults.Trigger{}, "delay", slow)
	}
}

// slowly makes every message as slow as the network allows.
func (b *builder) slowly() {
	slowest := scenarios.Latency{Latency: network.Constant(b.settings.Replies().Max())}
	b.Network = scenarios.Network{Latency: scenarios.Latency{Latency: network.Constant(b.settings.Requests().Max())}, Replies: &slowest}
}

// vote gives the holder its votes.
func (b *builder) vote(how votes) {
	q := b.settings.Quorum()
	others := b.Nodes.Names[min(q, len(b.Nodes.Names)):]
	switch how {
	case refused:
		for _, node := range others {
			down := &faults.Kill{}
			down.Node = node
			b.fault(faults.Trigger{}, "kill", down)
			b.fault(b.granted(), "restart", &faults.Restart{Node: node})
		}
	case lost:
		b.loses(b.ready(holder), holder, others)
	case held:
		// The rival had all nodes, for just not as long as its keys last, and its release reaches only the others. So the nodes
		// refuse the holder, which asks them in the same order, a tick before they are free.
		b.Clients = append(b.Clients, rival)
		b.client(faults.Trigger{At: b.start + redisTick - b.Lock.TTL}, rival, b.takes(), step(scenarios.UnlockStep))
		b.loses(after(rival, "acquire-done"), rival, others)
		b.held = 3 * redisTick
	case all:
		return
	}
	b.voters = b.Nodes.Names[:q]
}

// ready is when a client can begin: once the nodes have no quarantine for it to wait for, for which it must reach all of them.
func (b *builder) ready(client string) faults.Trigger {
	if b.settings.guarded() {
		return after(client, faults.Prepared)
	}
	return faults.Trigger{}
}

// granted is when the holder has the lock, extended if it extends it. A lock that renews itself has done so by then.
func (b *builder) granted() faults.Trigger {
	switch {
	case !b.settings.Extends:
		return b.acquired(0)
	case b.settings.renewsItself():
		return b.acquired(b.Lock.TTL)
	}
	return after(holder, "extend-done")
}

// acquired is so long after the holder was granted the lock.
func (b *builder) acquired(plus time.Duration) faults.Trigger {
	granted := after(holder, "acquire-done")
	granted.After.Resource, granted.Plus = b.settings.contended(), plus
	return granted
}

// free is the moment at which the second client must ask for its requests to arrive as soon as a quorum is free.
func (b *builder) free() faults.Trigger {
	return faults.Trigger{After: &faults.Moment{Event: faults.NodesFree, Client: holder, Resource: b.settings.contended(), Nth: b.settings.Quorum(),
		Lead: b.settings.Requests().Min()}}
}

// takes is the step in which the holder asks for its lock, asks that of the second client, and writes a write to the contended
// resource.
func (b *builder) takes() scenarios.Step {
	s := step(scenarios.TryLockStep)
	switch on := b.settings.contended(); {
	case on != "" && b.settings.Joint:
		s.Resource = slices.Clone(b.Resources)
	case on != "":
		s.Resource = []string{on}
	}
	return s
}

func (b *builder) asks() scenarios.Step { return b.onContended(scenarios.TryLockStep) }

func (b *builder) writes() scenarios.Step { return b.onContended(scenarios.WriteStep) }

func (b *builder) onContended(kind scenarios.StepKind) scenarios.Step {
	s := step(kind)
	if on := b.settings.contended(); on != "" {
		s.Resource = []string{on}
	}
	return s
}

// holds makes the holder take the lock, and then do these steps.
func (b *builder) holds(steps ...scenarios.Step) {
	program := []scenarios.Step{b.takes()}
	if b.settings.Extends && !b.settings.renewsItself() {
		b.must(holder, "extend-done")
		program = append(program, scenarios.Step{Kind: scenarios.SleepStep, For: b.Lock.TTL / 2}, scenarios.Step{Kind: scenarios.ExtendStep, For: b.Lock.TTL})
	}
	b.client(faults.Trigger{At: b.start}, holder, append(program, steps...)...)
}

// cutOff loses the requests of the holder from the grant on if its lock renews itself.
func (b *builder) cutOff() {
	if b.settings.renewsItself() {
		b.loses(b.granted(), holder, b.Nodes.Names)
	}
}

// loses loses the requests of a client to some nodes.
func (b *builder) loses(when faults.Trigger, client string, nodes []string) {
	if len(nodes) == 0 {
		return
	}
	p := &faults.Partition{Links: faults.Links{Clients: []string{client}, Nodes: nodes}}
	p.Direction = network.Requests
	b.fault(when, "partition", p)
}

// needed is how many voters of the holder another client needs, too, for a quorum.
func (b *builder) needed() int {
	return max(b.settings.Quorum()+len(b.voters)-len(b.Nodes.Names), 0)
}

func (b *builder) rate(process string, rate decimal.Decimal) {
	if !rate.IsZero() {
		b.fault(faults.Trigger{At: b.start}, "clock-rate", &faults.ClockRate{Process: process, Rate: faults.RateOf(rate)})
	}
}

func (b *builder) fault(when faults.Trigger, kind string, f faults.Fault) {
	b.Timeline = append(b.Timeline, scenarios.Item{When: when, Kind: kind, Fault: f})
}

func (b *builder) client(when faults.Trigger, name string, steps ...scenarios.Step) {
	b.Timeline = append(b.Timeline, scenarios.Item{When: when, Client: name, Do: steps, Repeat: 1})
}

// must makes a run count as not tested unless a client comes to an event.
func (b *builder) must(client, event string) {
	b.meets(reached(client, event))
}

// mustBelieving is must for a time at which another client believes that it has the lock.
func (b *builder) mustBelieving(client, event, by string) {
	r := reached(client, event)
	r.Believing = by
	b.meets(r)
}

// meets makes a run count as not tested unless it meets a condition.
func (b *builder) meets(r scenarios.Reached) { b.Expect.Reached = append(b.Expect.Reached, r) }

// ends makes the run last until everything is over.
func (b *builder) ends(longest time.Duration) {
	b.Duration = b.start + 4*b.Lock.TTL + 2*longest + time.Minute + time.Duration(4*len(b.Nodes.Names))*max(min(b.Lock.NodeTimeout, b.Lock.TTL), b.settings.Requests().Max())
	b.Expect.Unavailable = scenarios.Unavailable{Bounds: scenarios.Bounds{AtMost: b.Duration}}
}

func after(client, event string) faults.Trigger {
	return faults.Trigger{After: &faults.Moment{Client: client, Event: event}}
}

func step(kind scenarios.StepKind) scenarios.Step { return scenarios.Step{Kind: kind} }

// stays is a step that outlasts the lease, so that it expires without a release.
func (b *builder) stays() scenarios.Step {
	return scenarios.Step{Kind: scenarios.SleepStep, For: 4*b.Lock.TTL + 2*b.Budget.Suspend}
}

// letGo steps the clocks as far as the budget allows right after the grant, those of the nodes forward and the holder's
// back. It is the moment at which the second client must ask for its requests to arrive as soon as a quorum is free.
// Nothing extends the lock meanwhile.
func (b *builder) letGo() faults.Trigger {
	s := b.settings
	b.cutOff()
	if by := s.Budget.ClockStep; by > 0 {
		for _, node := range b.Nodes.Names {
			b.fault(b.granted(), "clock-step", &faults.ClockStep{Process: node, By: by})
		}
		b.stepBack()
	}
	return b.free()
}

// stepBack steps the wall clock of the holder back, if its lock measures with that.
func (b *builder) stepBack() {
	if b.Lock.Clock == kernel.WallClock && b.Budget.ClockStep > 0 {
		b.fault(b.granted(), "clock-step", &faults.ClockStep{Process: holder, By: -b.Budget.ClockStep})
	}
}

// suspends suspends the machine of the holder at an event, for as long as the budget allows.
func (b *builder) suspends(when faults.Trigger) {
	if b.Budget.Suspend > 0 {
		b.fault(when, "suspend", &faults.Suspend{Client: holder, For: b.Budget.Suspend})
	}
}

// scaled is what a clock with a rate error shows after d.
func scaled(d time.Duration, rate decimal.Decimal) int64 {
	return decimal.NewFromInt(int64(d)).Mul(decimal.NewFromInt(1).Add(rate)).Floor().IntPart()
}

// reached is the condition that a client came to an event.
func reached(client, event string) scenarios.Reached {
	return scenarios.Reached{Moment: faults.Moment{Client: client, Event: event}}
}

// ofHolder are the connections of the holder to the nodes.
func (b *builder) ofHolder() faults.Links {
	return faults.Links{Clients: []string{holder}, Nodes: slices.Clone(b.Nodes.Names)}
}

// renews works for so long under a lock that is renewed.
func renews(d time.Duration) scenarios.Step {
	return scenarios.Step{Kind: scenarios.RenewStep, For: d}
}
