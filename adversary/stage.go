package adversary

import (
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/internal/quorum"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim"
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

// stage is a scenario under construction.
type stage struct {
	*scenarios.Scenario
	settings *Settings
	// start is when the holder asks.
	start time.Duration
	// voters are the nodes that vote for the holder.
	voters []string
}

// each builds a scenario for each way in which the holder can come to its votes.
func each(s *Settings, nodesRate, holdersRate decimal.Decimal, build func(*stage)) []*scenarios.Scenario {
	ways := []votes{refused, lost, all}
	switch {
	case QuorumOf(s) >= len(s.Nodes.Names):
		ways = ways[2:]
	case guarded(s): // nodes that were down wait before they vote
		ways = ways[1:]
	}
	var built []*scenarios.Scenario
	for _, way := range ways {
		x := newStage(s, nodesRate, holdersRate)
		x.vote(way)
		build(x)
		built = append(built, x.Scenario)
	}
	return built
}

// newStage is a world in which the clocks are as wrong as the budget allows, and messages as fast as they can be. The holder
// asks for the lock just before Redis' clock goes on to the next millisecond: a key lives until the clock of its node, in
// whole milliseconds, is past its deadline, and so lives for a nanosecond longer than its time to live, the least that
// there is.
func newStage(s *Settings, nodesRate, holdersRate decimal.Decimal) *stage {
	x := &stage{Scenario: s.Settings(), settings: s, voters: s.Nodes.Names}
	x.Name, x.Title = "attack", "attack"
	x.Clients = []string{holder, second}
	x.hurry()
	if guarded(s) {
		x.client(faults.Trigger{}, holder, scenarios.Step{Kind: scenarios.PrepareStep})
		x.Expect.Reached = append(x.Expect.Reached, scenarios.Reached{Moment: faults.Moment{Client: holder, Event: faults.Prepared},
			Before: &faults.Moment{Client: holder, Event: "acquire-called"}})
		x.start = 2 * s.Lock.NodeTimeout
	}
	landed := x.start + time.Duration(scaled(requests(s).Min(), nodesRate))
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
func (x *stage) hurry() {
	s := x.settings
	fast := scenarios.Latency{Latency: sim.Constant(replies(s).Min())}
	x.Network = scenarios.Network{Latency: scenarios.Latency{Latency: sim.Constant(requests(s).Min())}, Replies: &fast}
	x.Budget.Delay += requests(s).Max() - requests(s).Min()
	if x.Budget.Delay > 0 {
		slow := &faults.Delay{By: x.Budget.Delay}
		slow.Clients, slow.Nodes, slow.Direction.Direction = []string{holder}, []string{sim.StorageName}, sim.Requests
		x.fault(faults.Trigger{}, "delay", slow)
	}
}

// vote has the holder come to its votes.
func (x *stage) vote(how votes) {
	q := QuorumOf(x.settings)
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
func (x *stage) granted() faults.Trigger {
	if x.settings.Extends {
		return after(holder, "extend-done")
	}
	granted := after(holder, "acquire-done")
	granted.After.Resource = x.settings.contended()
	return granted
}

// takes is the holder's step in which it asks for its lock, asks the second client's, and writes a write to what both want.
func (x *stage) takes() scenarios.Step {
	s := step(scenarios.TryLockStep)
	switch on := x.settings.contended(); {
	case on != "" && x.settings.Joint:
		s.Resource = slices.Clone(x.Resources)
	case on != "":
		s.Resource = []string{on}
	}
	return s
}

func (x *stage) asks() scenarios.Step { return x.onContended(scenarios.TryLockStep) }

func (x *stage) writes() scenarios.Step { return x.onContended(scenarios.WriteStep) }

func (x *stage) onContended(kind scenarios.StepKind) scenarios.Step {
	s := step(kind)
	if on := x.settings.contended(); on != "" {
		s.Resource = []string{on}
	}
	return s
}

// holds has the holder take the lock, and then do something.
func (x *stage) holds(steps ...scenarios.Step) {
	program := []scenarios.Step{x.takes()}
	if x.settings.Extends {
		x.must(holder, "extend-done")
		program = append(program, scenarios.Step{Kind: scenarios.SleepStep, For: x.Lock.TTL / 2}, scenarios.Step{Kind: scenarios.ExtendStep, For: x.Lock.TTL})
	}
	x.client(faults.Trigger{At: x.start}, holder, append(program, steps...)...)
}

// cutOff has the requests of a holder whose lock is renewed while it lives be lost from the grant on.
func (x *stage) cutOff() {
	if x.Lock.Watchdog && strings.HasPrefix(string(x.Lock.Protocol), "redisson") {
		x.loses(x.granted(), holder, x.Nodes.Names)
	}
}

// loses has the requests of a client to some nodes be lost.
func (x *stage) loses(when faults.Trigger, client string, nodes []string) {
	if len(nodes) == 0 {
		return
	}
	p := &faults.Partition{Links: faults.Links{Clients: []string{client}, Nodes: nodes}}
	p.Direction.Direction = sim.Requests
	x.fault(when, "partition", p)
}

// needed is how many of the holder's nodes must vote for another client too, for that to have a quorum.
func (x *stage) needed() int {
	return max(QuorumOf(x.settings)+len(x.voters)-len(x.Nodes.Names), 0)
}

func (x *stage) rate(process string, rate decimal.Decimal) {
	if !rate.IsZero() {
		x.fault(faults.Trigger{At: x.start}, "clock-rate", &faults.ClockRate{Process: process, Rate: faults.RateOf(rate)})
	}
}

func (x *stage) fault(when faults.Trigger, kind string, f faults.Fault) {
	x.Timeline = append(x.Timeline, scenarios.Item{When: when, Kind: kind, Fault: f})
}

func (x *stage) client(when faults.Trigger, name string, steps ...scenarios.Step) {
	x.Timeline = append(x.Timeline, scenarios.Item{When: when, Client: name, Do: steps, Repeat: 1})
}

// must has the run not tested where a client did not come to an event.
func (x *stage) must(client, event string) {
	x.Expect.Reached = append(x.Expect.Reached, reached(client, event))
}

// ends has the run go on until everything is over.
func (x *stage) ends(longest time.Duration) {
	x.Duration = x.start + 4*x.Lock.TTL + 2*longest + time.Minute + time.Duration(4*len(x.Nodes.Names))*max(min(x.Lock.NodeTimeout, x.Lock.TTL), requests(x.settings).Max())
	x.Expect.Unavailable = scenarios.Unavailable{Bounds: scenarios.Bounds{AtMost: x.Duration}}
}

func after(client, event string) faults.Trigger {
	return faults.Trigger{After: &faults.Moment{Client: client, Event: event}}
}

func step(kind scenarios.StepKind) scenarios.Step { return scenarios.Step{Kind: kind} }

// stays does not release: what it believes ends by itself.
func (x *stage) stays() scenarios.Step {
	return scenarios.Step{Kind: scenarios.SleepStep, For: 4*x.Lock.TTL + 2*x.Budget.Suspend}
}

// letGo has the clocks step as far as the budget allows right after the grant, the nodes' forward and the holder's back, and
// is when the second client asks so that its requests arrive the moment a quorum of nodes is free. Nothing prolongs the lock.
func (x *stage) letGo() faults.Trigger {
	s := x.settings
	x.cutOff()
	if by := s.Budget.ClockStep; by > 0 {
		for _, node := range x.Nodes.Names {
			x.fault(x.granted(), "clock-step", &faults.ClockStep{Process: node, By: by})
		}
		x.stepBack()
	}
	return faults.Trigger{After: &faults.Moment{Event: faults.NodesFree, Client: holder, Resource: s.contended(), Nth: QuorumOf(s), Lead: requests(s).Min()}}
}

// stepBack has the holder's wall clock step back, if that is what it measures with.
func (x *stage) stepBack() {
	if x.Lock.Clock.ClockKind == sim.WallClock && x.Budget.ClockStep > 0 {
		x.fault(x.granted(), "clock-step", &faults.ClockStep{Process: holder, By: -x.Budget.ClockStep})
	}
}

// suspends has the holder's machine suspended after an event, for as long as the budget allows.
func (x *stage) suspends(when faults.Trigger) {
	if x.Budget.Suspend > 0 {
		x.fault(when, "suspend", &faults.Suspend{Client: holder, For: x.Budget.Suspend})
	}
}

// QuorumOf is how many nodes must agree.
func QuorumOf(s *Settings) int {
	if s.Lock.Quorum != 0 {
		return s.Lock.Quorum
	}
	n := len(s.Nodes.Names)
	if s.Lock.Protocol == "redlock-plain" && s.Lock.Rounding == protocols.RoundUp {
		return min(quorum.Majority(n)+n%2, n)
	}
	return quorum.Majority(n)
}

// rho bounds the rate error of all clocks.
func rho(s *Settings) decimal.Decimal { return s.Budget.ClockRate.Ratio() }

// scaled is what a clock with a rate error counts in d.
func scaled(d time.Duration, rate decimal.Decimal) int64 {
	return decimal.NewFromInt(int64(d)).Mul(decimal.NewFromInt(1).Add(rate)).Floor().IntPart()
}

func requests(s *Settings) sim.Latency { return s.Network.Latency.Latency }

func replies(s *Settings) sim.Latency {
	if s.Network.Replies != nil {
		return s.Network.Replies.Latency
	}
	return requests(s)
}

// guarded says whether nodes vote under the library's restart guard, which other protocols do not have.
func guarded(s *Settings) bool { return s.Lock.Protocol == "redlock" && s.Lock.Guard != nil }

// trusting says whether that guard lets the node's clock alone end a quarantine.
func trusting(s *Settings) bool { return guarded(s) && s.Lock.Guard.TrustNodeClock }

// Forgetful says whether a node that stops can come back, and vote, without all it knew. A process that is killed keeps what
// it wrote to its append-only file; a machine that loses power keeps what was fsynced; and under the restart guard a node
// that lost its memory does not vote.
func Forgetful(s *Settings) bool {
	if guarded(s) && !trusting(s) {
		return false
	}
	switch s.Nodes.Persistence.Persistence {
	case sim.Always:
		return false
	case sim.EverySecond:
		return !s.Budget.NoPowerLoss
	}
	return true
}
