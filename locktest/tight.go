package locktest

import (
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/search/attacks"
)

// tight draws an attack on the settings, with all or a part of what is assumed. If it does not take
// place, the test says so.
func (x *setup) tight(c faults.Choices, seed uint64) (*scenarios.Scenario, error) {
	own := *x.base
	s := &attacks.Settings{Scenario: &own}
	size := func(what string, budget time.Duration) time.Duration {
		switch c := c.For(what, 0); c.For("how", 0).Below(4) {
		case 0:
			return 0
		case 1:
			return faults.Length(c, 0, budget)
		}
		return budget
	}
	b := &own.Budget
	b.ClockStep, b.Suspend, b.Delay = size("step", b.ClockStep), size("suspend", b.Suspend), size("delay", b.Delay)
	s.Pause = size("pause", b.Pause)
	if c.For("rates", 0).Below(4) == 0 {
		b.ClockRate = faults.Rate{}
	}
	if n := int64(b.MemoryLoss); n > 0 && c.For("fewer", 0).Below(4) == 0 {
		b.MemoryLoss = int(c.For("fewer", 1).Below(n))
	}
	s.Extends = c.For("extends", 0).Below(3) == 0 && x.foreign.Makes(scenarios.ExtendStep)
	s.Joint = s.CanJoin() && !x.apart && c.For("joint", 0).Below(2) == 0
	all, _ := attacks.Find() // without names
	attack := faults.OneOf(c.For("what", 0), all...)
	plan, err := guarding(x.strays, func() (*scenarios.Scenario, error) {
		return attack.Place(s, scenarios.Options{Seed: seed, Foreign: x.foreign})
	})
	if err != nil {
		return nil, err
	}
	plan.Name = "drawn"
	// The lock was promised also what the attack did not use.
	delay := plan.Budget.Delay - b.Delay
	plan.Budget = x.base.Budget
	plan.Budget.Delay += delay
	return plan, nil
}
