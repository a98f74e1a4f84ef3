package faults

import (
	"fmt"
	"time"
)

// ClockStep moves the wall clock of a process at once, as an operator or a time daemon does. Redis expires keys by the wall
// clock. Monotonic clocks do not step.
type ClockStep struct {
	// Process is a client or a node. Example: C
	Process string `yaml:"process,required"`
	// By is how far forward, or back if negative. Example: 10s
	By time.Duration `yaml:"by,required"`
}

var clockStep = Kind{
	Name: "clock-step", New: func() Fault { return new(ClockStep) },
	Target: AnyProcess, Local: true, Takes: []string{"clock-step"},
	Draw: func(c Choices, l *Limits) Fault {
		by, ok := l.upTo(c.For("by", 0), time.Millisecond, l.Budget.ClockStep)
		if !ok {
			return nil
		}
		if c.For("back", 0).Below(3) == 1 {
			by = -by
		}
		return &ClockStep{Process: l.process(c), By: by}
	},
	Place: func(l *Limits) (all []Fault) {
		for _, p := range l.Names.all() {
			for _, d := range l.allSizes(l.Budget.ClockStep) {
				all = append(all, &ClockStep{Process: p, By: d}, &ClockStep{Process: p, By: -d})
			}
		}
		return all
	},
	// The smallest jump of a node's clock that breaks the lock.
	Tight: func(s Schedule) (time.Duration, string) {
		return s.TTL - (s.Injected - s.Asked) + redisTick,
			"the TTL left when the clock steps, and Redis' own millisecond (less what the second client waits before it asks, plus the time of the first request)"
	},
}

func (c *ClockStep) String() string {
	where := "forward"
	if c.By < 0 {
		where = "back"
	}
	return fmt.Sprintf("the wall clock of %s jumps %s by %v", c.Process, where, c.By.Abs())
}

// Check implements Fault.
func (c *ClockStep) Check(n Names) []Problem {
	return among("process", c.Process, n.all(), "client or node")
}

// Inject implements Fault.
func (c *ClockStep) Inject(f *Field) error {
	if f.ground.StepClock(c.Process, c.By) {
		f.uses(f.ground.Now(), func(u *Used) { u.ClockStep = max(u.ClockStep, f.stepped(c.Process, c.By)) })
	}
	f.notePoint("clock-step", c.Process, c.By, "%v", c)
	return nil
}

// Target implements Fault.
func (c *ClockStep) Target() string { return c.Process }

// Size implements Fault.
func (c *ClockStep) Size() *Size {
	return &Size{Value: c.By.Abs(), Knob: "the step", With: func(d time.Duration) Fault {
		if c.By < 0 {
			d = -d
		}
		return &ClockStep{Process: c.Process, By: d}
	}}
}

// Live implements Fault.
func (c *ClockStep) Live(Deployment) Live { return Live{Clocks: true} }
