package sweep

import (
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/redlock"
	"redlocksim/scenarios"
	"redlocksim/sim"
)

// Schedule is an adversary that spends the budget on one kind of attack, at the worst moments. Its formulas are exact when
// messages take no time.
type Schedule struct {
	// Name is one word, and Text what the adversary does.
	Name, Text string
	// Knobs are the settings that stop it, with their formulas.
	Knobs []Knob

	build func(*Settings) *scenarios.Scenario
	// broken says in words what the attack came to, where that is not a violation of mutual exclusion.
	broken func(*scenarios.Result) string
}

// Knob is a setting and the formula for its smallest value that holds; where more of it is worse, for its largest.
type Knob struct {
	Path    string
	Text    string
	Formula func(*Settings) decimal.Decimal // in the unit that Unit says
	Unit    Unit
}

// Schedules lists all schedules.
func Schedules() []Schedule {
	allowance := "TTL × (1 − (1−ρ)/(1+ρ)), and for a step J of the nodes' clocks J × (1−ρ)/(1+ρ) more"
	return []Schedule{
		{
			Name: "clocks", Text: "the holder's clock is slow and the nodes' are fast, or step forward, and the second client asks the moment a quorum has let go",
			Knobs: []Knob{
				{"lock.drift.constant", allowance + ", less the factor's part", func(s *Settings) decimal.Decimal { return Allowance(s).Sub(factorsPart(s)) }, Nanoseconds},
				{"lock.drift.factor", allowance + ", less the constant, as a part of the TTL", func(s *Settings) decimal.Decimal {
					return Allowance(s).Sub(ns(s.Lock.Drift.Constant)).Shift(2).DivRound(ns(s.Lock.TTL), 12)
				}, Percent},
			},
			build: clocks,
		},
		{
			Name: "restart", Text: "as many of the holder's nodes as it takes stop right after the grant, and come back without their memory when the budget allows it",
			Knobs: []Knob{{"budget.restart-delay", "what is left of the holder's belief: (TTL − drift allowance) / (1−ρ); nothing where nodes keep their memory", RestartDelay, Nanoseconds}},
			build: restart,
		},
		{
			Name: "memory-loss", Text: "the holder has no more nodes than a quorum, and as many of them as the budget allows come back at once without their memory",
			Knobs: []Knob{
				{"lock.quorum", "⌊(nodes + lost) / 2⌋ + 1", func(s *Settings) decimal.Decimal { return number(Quorum(s)) }, Count},
				{"budget.memory-loss", "2 × quorum − nodes − 1", func(s *Settings) decimal.Decimal { return number(int64(2*quorumOf(s) - len(s.Nodes.Names) - 1)) }, Count},
			},
			build: memoryLoss,
		},
		{
			Name: "pause", Text: "the holder makes sure of its lease at the last moment that its guard time allows, is paused, and writes after the next holder",
			Knobs: []Knob{{"budget.pause", "the longest pause, less what the drift allowance leaves; nothing where the library ends the context of a lease that much earlier anyway", Guard, Nanoseconds}},
			build: pause,
		},
		{
			Name: "timeout", Text: "every message takes as long as it can, and the client's clock is fast: a node that answers later than its timeout has no vote",
			Knobs: []Knob{{"lock.node-timeout", "more than the longest round trip × (1+ρ)", NodeTimeout, Nanoseconds}},
			build: timeout, broken: notGranted,
		},
	}
}

// FindSchedules is the schedules of these names; with none, all that are about mutual exclusion.
func FindSchedules(names ...string) ([]Schedule, error) {
	var found []Schedule
	var known []string
	for _, s := range Schedules() {
		known = append(known, s.Name)
		if slices.Contains(names, s.Name) || len(names) == 0 && s.broken == nil {
			found = append(found, s)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("schedule: %w", unknown(name, known...))
		}
	}
	return found, nil
}

// Timeline is the schedule that a scenario brings along, for the base that is [Whole].
func Timeline() Schedule {
	return Schedule{Name: "timeline", Text: "the scenario's own timeline", build: func(s *Settings) *scenarios.Scenario { return s.Scenario }}
}

// Breach is an attack that succeeded, and what it came to: the kinds of violations.
type Breach struct {
	Schedule string `json:"schedule"`
	What     string `json:"what"`
}

// Attack runs the schedule; nil if the lock held.
func (x Schedule) Attack(s *Settings) (*Breach, *scenarios.Result, error) {
	r, err := scenarios.Judge(x.build(s), scenarios.Options{})
	if err != nil {
		return nil, nil, err
	}
	what := ""
	if x.broken != nil {
		what = x.broken(r)
	} else {
		var kinds scenarios.Findings
		for _, k := range r.Findings {
			if k.Violation() {
				kinds = append(kinds, k)
			}
		}
		if len(kinds) > 0 {
			what = kinds.String()
		}
	}
	if what == "" {
		return nil, r, nil
	}
	return &Breach{x.Name, what}, r, nil
}

// stage is a scenario under construction.
type stage struct {
	*scenarios.Scenario
	settings *Settings
	// start is when the holder asks.
	start time.Duration
}

// The clients of all schedules.
const (
	holder = "client-1"
	second = "client-2"
)

// redisTick is the unit in which Redis counts.
const redisTick = time.Millisecond

// newStage is a world in which the clocks are as wrong as the budget allows, and the holder asks for the lock just before
// Redis' clock goes on to the next millisecond: a key lives until the clock of its node, in whole milliseconds, is past its
// deadline, and so lives for a nanosecond longer than its time to live, the least that there is.
func newStage(s *Settings, nodesRate, holdersRate decimal.Decimal) *stage {
	x := &stage{Scenario: s.Settings(), settings: s}
	x.Name, x.Title = "schedule", "schedule"
	x.Clients = []string{holder, second}
	if s.Lock.Guard != nil {
		x.client(faults.Trigger{}, holder, scenarios.Step{Kind: scenarios.PrepareStep})
		x.start = 2 * s.Lock.NodeTimeout
	}
	on := requestDelay(s)
	landed := x.start + time.Duration(scaled(on, nodesRate))
	x.start += ((redisTick-1-landed)%redisTick + redisTick) % redisTick
	x.rate(holder, holdersRate)
	for _, node := range x.Nodes.Names {
		x.rate(node, nodesRate)
	}
	return x
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

// done is the scenario, which goes on until everything is over.
func (x *stage) done(longest time.Duration) *scenarios.Scenario {
	x.Duration = x.start + 4*x.Lock.TTL + 2*longest + time.Minute
	return x.Scenario
}

func after(client, event string) faults.Trigger {
	return faults.Trigger{After: &faults.Moment{Client: client, Event: event}}
}

var tryLock = scenarios.Step{Kind: scenarios.TryLockStep}

// stays does not release: what it believes ends by itself.
func (x *stage) stays() scenarios.Step {
	return scenarios.Step{Kind: scenarios.SleepStep, For: 4 * x.Lock.TTL}
}

// onlyQuorum has the holder's requests reach no more nodes than a quorum, and returns those.
func (x *stage) onlyQuorum() []string {
	q := quorumOf(x.settings)
	if others := x.Nodes.Names[q:]; len(others) > 0 {
		p := &faults.Partition{Links: faults.Links{Clients: []string{holder}, Nodes: others}}
		p.Direction.Direction = sim.Requests
		x.fault(faults.Trigger{At: x.start}, "partition", p)
	}
	return x.Nodes.Names[:q]
}

// nodesLetGo is how long after the requests have landed on nodes that are fast by ρ, and step, the keys are gone.
func nodesLetGo(s *Settings) time.Duration {
	left := ns(s.Lock.TTL).Add(one).Sub(ns(s.Budget.ClockStep))
	return time.Duration(ceilDiv(decimal.Max(left, decimal.Zero), one.Add(rho(s))).IntPart())
}

func clocks(s *Settings) *scenarios.Scenario {
	x := newStage(s, rho(s), rho(s).Neg())
	x.client(faults.Trigger{At: x.start}, holder, tryLock, x.stays())
	x.client(x.letGo(), second, tryLock, x.stays())
	return x.done(s.Budget.ClockStep)
}

// letGo has the nodes' clocks step as far as the budget allows, right after the grant, and is when the second client must
// ask to find that they have let go of the keys.
func (x *stage) letGo() faults.Trigger {
	s := x.settings
	ask := faults.Trigger{At: x.start + nodesLetGo(s)}
	if s.Budget.ClockStep == 0 {
		return ask
	}
	for _, node := range x.Nodes.Names {
		x.fault(after(holder, "acquire-done"), "clock-step", &faults.ClockStep{Process: node, By: s.Budget.ClockStep})
	}
	if granted := requestDelay(s) + replyDelay(s); nodesLetGo(s) <= granted {
		ask = after("", "clock-step")
		ask.After.Nth = len(x.Nodes.Names)
	}
	return ask
}

func restart(s *Settings) *scenarios.Scenario {
	x := newStage(s, decimal.Zero, rho(s).Neg())
	held := x.onlyQuorum()
	x.client(faults.Trigger{At: x.start}, holder, tryLock, x.stays())
	if s.Budget.RestartDelay == nil {
		x.client(after(holder, "acquire-done"), second, tryLock, x.stays())
		return x.done(0)
	}
	x.forget(held[:2*len(held)-len(x.Nodes.Names)], *s.Budget.RestartDelay)
	return x.done(*s.Budget.RestartDelay)
}

// forget has nodes lose power once the holder has the lock, and the second client ask when they are back.
func (x *stage) forget(nodes []string, delay time.Duration) {
	ask := after(holder, "acquire-done")
	for _, node := range nodes {
		lost := &faults.PowerLoss{}
		lost.Node, lost.RestartAfter = node, &delay
		x.fault(after(holder, "acquire-done"), "power-loss", lost)
		ask = after("", "restart")
		ask.After.Nth = len(nodes)
	}
	x.client(ask, second, tryLock, x.stays())
}

func memoryLoss(s *Settings) *scenarios.Scenario {
	x := newStage(s, decimal.Zero, decimal.Zero)
	held := x.onlyQuorum()
	x.client(faults.Trigger{At: x.start}, holder, tryLock, x.stays())
	x.forget(held[:min(s.Budget.MemoryLoss, len(held))], 0)
	return x.done(0)
}

func pause(s *Settings) *scenarios.Scenario {
	x := newStage(s, rho(s), rho(s).Neg())
	// By the holder's clock. Its guard is for the longest message, too.
	granted := scaled(requestDelay(s)+replyDelay(s), rho(s).Neg())
	guard := s.Budget.Pause + s.Budget.Suspend + s.Budget.Delay + s.Network.Latency.Max()
	last := s.Lock.TTL - drift(s) - max(guard, Lead(s)) - time.Duration(granted) - 1
	write := scenarios.Step{Kind: scenarios.WriteStep}
	x.client(faults.Trigger{At: x.start}, holder, tryLock, scenarios.Step{Kind: scenarios.SleepStep, For: max(last, 1)}, write, x.stays())
	x.fault(after(holder, faults.Checked), "pause", &faults.Pause{Process: holder, For: max(s.Pause, 1)})
	x.client(x.letGo(), second, tryLock, write, x.stays())
	return x.done(s.Pause + s.Budget.ClockStep)
}

func timeout(s *Settings) *scenarios.Scenario {
	x := newStage(s, decimal.Zero, rho(s))
	slowest := scenarios.Latency{Latency: sim.Constant(replies(s).Max())}
	x.Network = scenarios.Network{Latency: scenarios.Latency{Latency: sim.Constant(s.Network.Latency.Max())}, Replies: &slowest}
	x.client(faults.Trigger{At: x.start}, holder, tryLock, scenarios.Step{Kind: scenarios.UnlockStep})
	return x.done(roundTrip(s))
}

func notGranted(r *scenarios.Result) string {
	for i := range r.History {
		if e := &r.History[i]; e.Process == holder && e.Kind == history.Return && e.Func == history.Acquire && e.Outcome == history.OK {
			return ""
		}
	}
	return "not granted"
}

func quorumOf(s *Settings) int {
	if s.Lock.Quorum != 0 {
		return s.Lock.Quorum
	}
	return redlock.Majority(len(s.Nodes.Names))
}
