package locktest

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/redlock"
	"redlocksim/scenarios"
	"redlocksim/sim"
)

const (
	holder = "client-1"
	rival  = "client-2"
)

// schedule is a scenario that is being written.
type schedule struct {
	scenarios.Scenario
	choices faults.Choices
}

// tight draws a schedule in which the arithmetic of the literature is tight, at the settings and the assumptions: the
// holder's requests reach no more than a quorum; its clock is slow and the nodes' are fast; nodes of the quorum forget
// it, as many and as early as is assumed to happen, or all clocks step; and the rival asks as soon as that helps it.
func (x *setup) tight(c faults.Choices) *scenarios.Scenario {
	s := &schedule{*x.base, c}
	s.Name, s.Clients = "drawn", []string{holder, rival}
	s.Duration = runLength * s.Lock.TTL
	s.Expect = scenarios.Expect{Unavailable: scenarios.Unavailable{Bounds: scenarios.Bounds{AtMost: s.Duration}}}
	quorum := s.bareQuorum()
	rate := s.rates()
	s.hold()
	granted := faults.Trigger{After: &faults.Moment{Event: "acquire-done", Client: holder}}
	if c.For("later", 0).Below(2) == 1 {
		granted.Plus = faults.Length(c.For("later", 1), 0, s.Lock.TTL)
	}
	// The keys are gone a millisecond after their time, by the nodes' clocks.
	life := decimal.NewFromInt(int64(s.Lock.TTL + time.Millisecond)).Div(rate.Add(decimal.New(1, 0)))
	ask := faults.Trigger{At: time.Duration(life.IntPart()).Truncate(time.Millisecond) + time.Millisecond}
	switch c.For("what", 0).Below(4) {
	case 1, 2:
		if n := s.losses(granted, quorum); n > 0 {
			ask = faults.Trigger{After: &faults.Moment{Event: "restart", Nth: n}}
		}
	case 3:
		if by := s.size("step", s.Budget.ClockStep); by > 0 {
			s.steps(granted, by)
			ask.At = max(0, ask.At-by)
		}
	}
	if pause := s.size("pause", s.Budget.Pause); pause > 0 {
		checked := &faults.Moment{Event: faults.Checked, Client: holder, Nth: 1 + int(c.For("check", 0).Below(3))}
		s.strike(faults.Trigger{After: checked}, "pause", &faults.Pause{Process: holder, For: pause})
	}
	s.Timeline = append(s.Timeline, scenarios.Item{When: ask, Client: rival, Repeat: 1, Do: []scenarios.Step{
		{Kind: scenarios.LockStep, For: s.Lock.TTL}, {Kind: scenarios.UpdateStep}, {Kind: scenarios.SleepStep, For: s.Lock.TTL / 2}, {Kind: scenarios.UpdateStep}}})
	return &s.Scenario
}

// strike puts a fault into the timeline.
func (s *schedule) strike(when faults.Trigger, kind string, f faults.Fault) {
	s.Timeline = append(s.Timeline, scenarios.Item{When: when, Kind: kind, Fault: f})
}

// size draws how much of a budget is used: none of it, some, or, as often as both, all.
func (s *schedule) size(what string, budget time.Duration) time.Duration {
	switch c := s.choices.For(what, 0); c.For("how", 0).Below(4) {
	case 0:
		return 0
	case 1:
		return faults.Length(c, 0, budget)
	}
	return budget
}

// bareQuorum cuts the holder's requests off from all nodes but a quorum, most of the time, and returns the quorum.
func (s *schedule) bareQuorum() []string {
	names, q := s.Nodes.Names, s.Lock.Quorum
	if q == 0 {
		q = redlock.Majority(len(names))
	}
	q = min(q, len(names))
	if q < len(names) && s.choices.For("whole", 0).Below(8) != 7 {
		cut := faults.Links{Clients: []string{holder}, Nodes: names[q:], Direction: faults.Direction{Direction: sim.Requests}}
		s.strike(faults.Trigger{}, "partition", &faults.Partition{Links: cut})
	}
	return names[:q]
}

// rates has the holder's clock run slow and the nodes' fast, and returns by how much those are.
func (s *schedule) rates() decimal.Decimal {
	worst := s.Budget.ClockRate.Ratio()
	if worst.IsZero() || s.choices.For("rates", 0).Below(4) == 0 {
		return decimal.Zero
	}
	for _, node := range s.Nodes.Names {
		s.strike(faults.Trigger{}, "clock-rate", &faults.ClockRate{Process: node, Rate: faults.RateOf(worst)})
	}
	s.strike(faults.Trigger{}, "clock-rate", &faults.ClockRate{Process: holder, Rate: faults.RateOf(worst.Neg())})
	return worst
}

// hold has the holder take the lock and keep it to the end of its lease, which it extends once in some schedules.
func (s *schedule) hold() {
	ttl := s.Lock.TTL
	take, update, rest := scenarios.Step{Kind: scenarios.TryLockStep}, scenarios.Step{Kind: scenarios.UpdateStep}, scenarios.Step{Kind: scenarios.SleepStep, For: ttl}
	half, extend := scenarios.Step{Kind: scenarios.SleepStep, For: ttl / 2}, scenarios.Step{Kind: scenarios.ExtendStep, For: ttl}
	steps := faults.OneOf(s.choices.For("holder", 0),
		[]scenarios.Step{take, update, rest, rest},
		[]scenarios.Step{take, half, update, rest},
		[]scenarios.Step{take, half, extend, update, rest},
	)
	s.Timeline = append(s.Timeline, scenarios.Item{Client: holder, Do: steps, Repeat: 1})
}

// losses has nodes of the quorum lose their memory, as many as a second quorum needs or fewer, and come back as early as is
// assumed. It returns how many do.
func (s *schedule) losses(when faults.Trigger, quorum []string) int {
	early, delay := s.Budget.MemoryLoss, s.Budget.RestartDelay
	needed := 2*len(quorum) - len(s.Nodes.Names)
	if delay == nil {
		needed = min(needed, early)
	}
	if s.Lock.Fencing && s.Nodes.Persistence.Persistence != sim.Always {
		needed = min(needed, s.Budget.CounterLoss)
	}
	if needed <= 0 {
		return 0
	}
	lost := needed - int(s.choices.For("fewer", 0).Below(int64(needed)))/2
	for i, node := range slices.Backward(quorum) {
		at := len(quorum) - 1 - i
		if at == lost {
			break
		}
		after := time.Duration(0)
		if at >= early {
			after = *delay
		}
		s.strike(when, "power-loss", &faults.PowerLoss{Outage: faults.Outage{Node: node, RestartAfter: &after}})
	}
	return lost
}

// steps has the nodes' wall clocks step forward and the holder's back.
func (s *schedule) steps(when faults.Trigger, by time.Duration) {
	for _, node := range s.Nodes.Names {
		s.strike(when, "clock-step", &faults.ClockStep{Process: node, By: by})
	}
	s.strike(when, "clock-step", &faults.ClockStep{Process: holder, By: -by})
}
