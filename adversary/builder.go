package adversary

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
)

// redisTick is the unit in which Redis counts.
const redisTick = time.Millisecond

// votes is how the holder comes to have as few votes as possible.
type votes uint8

const (
	// refused: the nodes beyond a quorum are down, and start again once the holder has the lock.
	refused votes = iota
	// lost: the holder's requests to the nodes beyond a quorum are lost.
	lost
	// all: every node votes, for locks that are not granted without.
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
}

// each builds a scenario for each way in which the holder can come to its votes.
func each(s *Settings, nodesRate, holdersRate decimal.Decimal, build func(*builder)) []*scenarios.Scenario {
	ways := []votes{refused, lost, all}
	switch {
	case s.Quorum() >= len(s.Nodes.Names):
		ways = ways[2:]
	case s.guarded(): // nodes that were down wait before they vote
		ways = ways[1:]
	}
	var built []*scenarios.Scenario
	for _, way := range ways {
		x := newBuilder(s, nodesRate, holdersRate)
		x.vote(way)
		build(x)
		built = append(built, x.Scenario)
	}
	return built
}

// newBuilder begins with a world in which the clocks are as wrong as the budget allows, and messages as fast as they can be. The holder
// asks for the lock just before Redis' clock goes on to the next millisecond: a key lives until the clock of its node, in
// whole milliseconds, is past its deadline, and so lives for a nanosecond longer than its time to live, the least that
// there is.
func newBuilder(s *Settings, nodesRate, holdersRate decimal.Decimal) *builder {
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
	x.start += ((redisTick-1-landed)%redisTick + redisTick) % redisTick
	x.rate(holder, holdersRate)
	for _, node := range x.Nodes.Names {
		x.rate(node, nodesRate)
	}
	x.must(holder, "acquire-done")
	return x
}

// hurry has every message take as little as the network allows, but for the holder's to the storage: those take as long as
// they can.
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

// vote has the holder come to its votes.
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
		x.loses(faults.Trigger{}, holder, others)
	case all:
		return
	}
	x.voters = x.Nodes.Names[:q]
}

// granted is when the holder has the lock for as long as it is going to have it.
func (x *builder) granted() faults.Trigger {
	if x.settings.Extends {
		return after(holder, "extend-done")
	}
	granted := after(holder, "acquire-done")
	granted.After.Resource = x.settings.contended()
	return granted
}

// takes is the holder's step in which it asks for its lock, asks the second client's, and writes a write to what both want.
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

// holds has the holder take the lock, and then do something.
func (x *builder) holds(steps ...scenarios.Step) {
	program := []scenarios.Step{x.takes()}
	if x.settings.Extends {
		x.must(holder, "extend-done")
		program = append(program, scenarios.Step{Kind: scenarios.SleepStep, For: x.Lock.TTL / 2}, scenarios.Step{Kind: scenarios.ExtendStep, For: x.Lock.TTL})
	}
	x.client(faults.Trigger{At: x.start}, holder, append(program, steps...)...)
}

// cutOff has the requests of a holder whose lock is renewed while it lives be lost from the grant on.
func (x *builder) cutOff() {
	if protocols.Of[protocols.RedissonSettings](x.Lock).Watchdog {
		x.loses(x.granted(), holder, x.Nodes.Names)
	}
}

// loses has the requests of a client to some nodes be lost.
func (x *builder) loses(when faults.Trigger, client string, nodes []string) {
	if len(nodes) == 0 {
		return
	}
	p := &faults.Partition{Links: faults.Links{Clients: []string{client}, Nodes: nodes}}
	p.Direction = network.Requests
	x.fault(when, "partition", p)
}

// needed is how many of the holder's nodes must vote for another client too, for that to have a quorum.
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

// must has the run not tested where a client did not come to an event.
func (x *builder) must(client, event string) {
	x.Expect.Reached = append(x.Expect.Reached, reached(client, event))
}

// ends has the run go on until everything is over.
func (x *builder) ends(longest time.Duration) {
	x.Duration = x.start + 4*x.Lock.TTL + 2*longest + time.Minute + time.Duration(4*len(x.Nodes.Names))*max(min(x.Lock.NodeTimeout, x.Lock.TTL), x.settings.Requests().Max())
	x.Expect.Unavailable = scenarios.Unavailable{Bounds: scenarios.Bounds{AtMost: x.Duration}}
}

func after(client, event string) faults.Trigger {
	return faults.Trigger{After: &faults.Moment{Client: client, Event: event}}
}

func step(kind scenarios.StepKind) scenarios.Step { return scenarios.Step{Kind: kind} }

// stays does not release: what it believes ends by itself.
func (x *builder) stays() scenarios.Step {
	return scenarios.Step{Kind: scenarios.SleepStep, For: 4*x.Lock.TTL + 2*x.Budget.Suspend}
}

// letGo has the clocks step as far as the budget allows right after the grant, the nodes' forward and the holder's back, and
// is when the second client asks so that its requests arrive the moment a quorum of nodes is free. Nothing prolongs the lock.
func (x *builder) letGo() faults.Trigger {
	s := x.settings
	x.cutOff()
	if by := s.Budget.ClockStep; by > 0 {
		for _, node := range x.Nodes.Names {
			x.fault(x.granted(), "clock-step", &faults.ClockStep{Process: node, By: by})
		}
		x.stepBack()
	}
	return faults.Trigger{After: &faults.Moment{Event: faults.NodesFree, Client: holder, Resource: s.contended(), Nth: s.Quorum(), Lead: s.Requests().Min()}}
}

// stepBack has the holder's wall clock step back, if that is what it measures with.
func (x *builder) stepBack() {
	if x.Lock.Clock == kernel.WallClock && x.Budget.ClockStep > 0 {
		x.fault(x.granted(), "clock-step", &faults.ClockStep{Process: holder, By: -x.Budget.ClockStep})
	}
}

// suspends has the holder's machine suspended after an event, for as long as the budget allows.
func (x *builder) suspends(when faults.Trigger) {
	if x.Budget.Suspend > 0 {
		x.fault(when, "suspend", &faults.Suspend{Client: holder, For: x.Budget.Suspend})
	}
}

// scaled is what a clock with a rate error counts in d.
func scaled(d time.Duration, rate decimal.Decimal) int64 {
	return decimal.NewFromInt(int64(d)).Mul(decimal.NewFromInt(1).Add(rate)).Floor().IntPart()
}
