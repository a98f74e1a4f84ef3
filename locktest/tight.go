package locktest

import (
	"time"

	"redlocksim/adversary"
	"redlocksim/faults"
	"redlocksim/scenarios"
)

// tight draws an attack for which the arithmetic of the literature is tight, at the settings and with all or a part of
// what is assumed; see package adversary. Of the ways to place it, it is the first in which it takes place: a lock that is
// granted only by all nodes cannot be attacked with fewer votes. If it does in none, the test is to say so.
func (x *setup) tight(c faults.Choices, seed uint64) (*scenarios.Scenario, error) {
	own := *x.base
	s := &adversary.Settings{Scenario: &own}
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
	s.Extends = c.For("extends", 0).Below(3) == 0
	s.Joint = s.CanJoin() && !x.apart && c.For("joint", 0).Below(2) == 0
	attacks, _ := adversary.Find()
	var first *scenarios.Scenario
	attack := faults.OneOf(c.For("what", 0), attacks...)
	plans := attack.Plans(s)
	if s.Extends { // which not every lock can
		once := *s
		once.Extends = false
		plans = append(plans, attack.Plans(&once)...)
	}
	for _, plan := range plans {
		plan.Name = "drawn"
		r, err := scenarios.Judge(plan, scenarios.Options{Seed: seed, Locker: x.lock})
		if err != nil {
			return nil, err
		}
		// What was not spent was promised all the same.
		delay := plan.Budget.Delay - b.Delay
		plan.Budget = x.base.Budget
		plan.Budget.Delay += delay
		if r.NotTested == nil || r.Witness() != nil {
			return plan, nil
		}
		if first == nil {
			first = plan
		}
	}
	return first, nil
}
