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
		x := newBuilder(s, before, nodesRate, holdersRate)
		x.vote(way)
		build(x)
		built = append(built, x.Scenario)
	}
	return built
}

// newBuilder starts from a world in which clocks are as wrong as the budget allows and messages as fast as possible. The
// holder asks just before the clock of Redis moves to the next millisecond: a key lives until that clock, in whole
// milliseconds, is past its deadline, so this one outlives its TTL by one nanosecond, the least possible. Whole milliseconds
// can pass before that.
func newBuilder(s *Settings, before time.Duration, nodesRate, holdersRate decimal.Decimal) *builder {
	x := &builder{Scenario: s.Settings(), settings: s, voters: s.Nodes.Names}
	x.Name, x.Title = "attack", "attack"
	x.Clients = []string{holder, second}
	x.hurry()
	if s.guarded() {
		x.client(faults.Trigger{}, holder, scenarios.Step{Kind: scenarios.PrepareStep})
		x.Expect.Reached = append(x.Expect.Reached, scenarios.Reached{Moment: faults.Moment{Client: holder, Event: faults.Prepared},
			Before: &faults.Moment{Client: holder, Event: "acquire-called"}})
		x.start = 2 * s.Lock.NodeTimeout
	}
	landed := x.start + time.Duration(scaled(s.Requests().Min(), nodesRate))
	x.start += before + ((redisTick-1-landed)%redisTick+redisTick)%redisTick
	x.rate(holder, holdersRate)
	for _, node := range x.Nodes.Names {
		x.rate(node, nodesRate)
	}
	x.must(holder, "acquire-done")
	return x
}

// hurry makes every message as fast as the network allows, except those of the holder to the storage, which are as slow as they
// can be.
func (x *builder) hurry() {
	s := x.settings
	fast := scenarios.Latency{Latency: network.Constant(s.Replies().Min())}
	x.Network = scenarios.Network{Latency: scenarios.Latency{Latency: network.Constant(s.Requests().Min())}, Replies: &fast}
	x.Budget.Delay += s.Requests().Max() - s.Requests().Min()
	if x.Budget.Delay > 0 {
		slow := &faults.Delay{By: x.Budget.Delay}
		slow.Clients, slow.Nodes, slow.Direction = []string{holder}, []string{storage.Name}, network.Requests
		x.fault(faults.Trigger{}, "delay", slow)
	}
}

// slowly makes every message as slow as the network allows.
func (x *builder) slowly() {
	slowest := scenarios.Latency{Latency: network.Constant(x.settings.Replies().Max())}
	x.Network = scenarios.Network{Latency: scenarios.Latency{Latency: network.Constant(x.settings.Requests().Max())}, Replies: &slowest}
}

// vote gives the holder its votes.
func (x *builder) vote(how votes) {
	q := x.settings.Quorum()
	others := x.Nodes.Names[min(q, len(x.Nodes.Names)):]
	switch how {
	case refused:
		for _, node := range others {
			down := &faults.Kill{}
			down.Node = node
			x.fault(faults.Trigger{}, "kill", down)
			x.fault(x.granted(), "restart", &faults.Restart{Node: node})
		}
	case lost:
		x.loses(x.ready(holder), holder, others)
	case held:
		// The rival had all nodes, for just not as long as its keys last, and its release reaches only the others. So the nodes
		// refuse the holder, which asks them in the same order, a tick before they are free.
		x.Clients = append(x.Clients, rival)
		x.client(faults.Trigger{At: x.start + redisTick - x.Lock.TTL}, rival, x.takes(), step(scenarios.UnlockStep))
		x.loses(after(rival, "acquire-done"), rival, others)
		x.held = 3 * redisTick
	case all:
		return
	}
	x.voters = x.Nodes.Names[:q]
}

// ready is when a client can begin: once the nodes have no quarantine for it to wait for, for which it must reach all of them.
func (x *builder) ready(client string) faults.Trigger {
	if x.settings.guarded() {
		return after(client, faults.Prepared)
	}
	return faults.Trigger{}
}

// granted is when the holder has the lock, extended if it extends it.
func (x *builder) granted() faults.Trigger {
	if x.settings.Extends {
		return after(holder, "extend-done")
	}
	return x.acquired(0)
}

// acquired is so long after the holder was granted the lock.
func (x *builder) acquired(plus time.Duration) faults.Trigger {
	granted := after(holder, "acquire-done")
	granted.After.Resource, granted.Plus = x.settings.contended(), plus
	return granted
}

// free is the moment at which the second client must ask for its requests to arrive as soon as a quorum is free.
func (x *builder) free() faults.Trigger {
	return faults.Trigger{After: &faults.Moment{Event: faults.NodesFree, Client: holder, Resource: x.settings.contended(), Nth: x.settings.Quorum(),
		Lead: x.settings.Requests().Min()}}
}

// takes is the step in which the holder asks for its lock, asks that of the second client, and writes a write to the contended
// resource.
func (x *builder) takes() scenarios.Step {
	s := step(scenarios.TryLockStep)
	switch on := x.settings.contended(); {
	case on != "" && x.settings.Joint:
		s.Resource = slices.Clone(x.Resources)
	case on != "":
		s.Resource = []string{on}
	}
	return s
}

func (x *builder) asks() scenarios.Step { return x.onContended(scenarios.TryLockStep) }

func (x *builder) writes() scenarios.Step { return x.onContended(scenarios.WriteStep) }

func (x *builder) onContended(kind scenarios.StepKind) scenarios.Step {
	s := step(kind)
	if on := x.settings.contended(); on != "" {
		s.Resource = []string{on}
	}
	return s
}

// holds makes the holder take the lock, and then do these steps.
func (x *builder) holds(steps ...scenarios.Step) {
	program := []scenarios.Step{x.takes()}
	if x.settings.Extends {
		x.must(holder, "extend-done")
		program = append(program, scenarios.Step{Kind: scenarios.SleepStep, For: x.Lock.TTL / 2}, scenarios.Step{Kind: scenarios.ExtendStep, For: x.Lock.TTL})
	}
	x.client(faults.Trigger{At: x.start}, holder, append(program, steps...)...)
}

// cutOff loses the requests of the holder from the grant on if its lock renews itself.
func (x *builder) cutOff() {
	if x.settings.renewsItself() {
		x.loses(x.granted(), holder, x.Nodes.Names)
	}
}

// loses loses the requests of a client to some nodes.
func (x *builder) loses(when faults.Trigger, client string, nodes []string) {
	if len(nodes) == 0 {
		return
	}
	p := &faults.Partition{Links: faults.Links{Clients: []string{client}, Nodes: nodes}}
	p.Direction = network.Requests
	x.fault(when, "partition", p)
}

// needed is how many voters of the holder another client needs, too, for a quorum.
func (x *builder) needed() int {
	return max(x.settings.Quorum()+len(x.voters)-len(x.Nodes.Names), 0)
}

func (x *builder) rate(process string, rate decimal.Decimal) {
	if !rate.IsZero() {
		x.fault(faults.Trigger{At: x.start}, "clock-rate", &faults.ClockRate{Process: process, Rate: faults.RateOf(rate)})
	}
}

func (x *builder) fault(when faults.Trigger, kind string, f faults.Fault) {
	x.Timeline = append(x.Timeline, scenarios.Item{When: when, Kind: kind, Fault: f})
}

func (x *builder) client(when faults.Trigger, name string, steps ...scenarios.Step) {
	x.Timeline = append(x.Timeline, scenarios.Item{When: when, Client: name, Do: steps, Repeat: 1})
}

// must makes a run count as not tested unless a client comes to an event.
func (x *builder) must(client, event string) {
	x.meets(reached(client, event))
}

// mustBelieving is must for a time at which another client believes that it has the lock.
func (x *builder) mustBelieving(client, event, by string) {
	r := reached(client, event)
	r.Believing = by
	x.meets(r)
}

// meets makes a run count as not tested unless it meets a condition.
func (x *builder) meets(r scenarios.Reached) { x.Expect.Reached = append(x.Expect.Reached, r) }

// ends makes the run last until everything is over.
func (x *builder) ends(longest time.Duration) {
	x.Duration = x.start + 4*x.Lock.TTL + 2*longest + time.Minute + time.Duration(4*len(x.Nodes.Names))*max(min(x.Lock.NodeTimeout, x.Lock.TTL), x.settings.Requests().Max())
	x.Expect.Unavailable = scenarios.Unavailable{Bounds: scenarios.Bounds{AtMost: x.Duration}}
}

func after(client, event string) faults.Trigger {
	return faults.Trigger{After: &faults.Moment{Client: client, Event: event}}
}

func step(kind scenarios.StepKind) scenarios.Step { return scenarios.Step{Kind: kind} }

// stays is a step that outlasts the lease, so that it expires without a release.
func (x *builder) stays() scenarios.Step {
	return scenarios.Step{Kind: scenarios.SleepStep, For: 4*x.Lock.TTL + 2*x.Budget.Suspend}
}

// letGo steps the clocks as far as the budget allows right after the grant, those of the nodes forward and the holder's
// back. It is the moment at which the second client must ask for its requests to arrive as soon as a quorum is free.
// Nothing extends the lock meanwhile.
func (x *builder) letGo() faults.Trigger {
	s := x.settings
	x.cutOff()
	if by := s.Budget.ClockStep; by > 0 {
		for _, node := range x.Nodes.Names {
			x.fault(x.granted(), "clock-step", &faults.ClockStep{Process: node, By: by})
		}
		x.stepBack()
	}
	return x.free()
}

// stepBack steps the wall clock of the holder back, if its lock measures with that.
func (x *builder) stepBack() {
	if x.Lock.Clock == kernel.WallClock && x.Budget.ClockStep > 0 {
		x.fault(x.granted(), "clock-step", &faults.ClockStep{Process: holder, By: -x.Budget.ClockStep})
	}
}

// suspends suspends the machine of the holder at an event, for as long as the budget allows.
func (x *builder) suspends(when faults.Trigger) {
	if x.Budget.Suspend > 0 {
		x.fault(when, "suspend", &faults.Suspend{Client: holder, For: x.Budget.Suspend})
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
