package faults

import (
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/sim/kernel"
)

// ClockStep moves the wall clock of a process at once, as an operator or a time daemon does. Redis expires keys by the wall
// clock. Monotonic clocks do not step.
type ClockStep struct {
	// Process is a client or a node. Example: C
	Process string `yaml:"process,required" of:"process"`
	// By is how far forward, or back if negative. Example: 10s
	By time.Duration `yaml:"by,required" budget:"clock-step" back:"yes" size:"the step"`
}

func (c *ClockStep) drawn(from Choices, l *Limits) (ok bool) {
	budget := l.Budget.ClockStep
	if l.Monotonic && slices.Contains(l.Names.Clients, c.Process) {
		budget = 2 * l.Scale
	}
	if c.By, ok = l.upTo(from.For("by", 0), time.Millisecond, budget); ok && from.For("back", 0).Below(3) == 1 {
		c.By = -c.By
	}
	return ok
}

func (c *ClockStep) String() string {
	where := "forward"
	if c.By < 0 {
		where = "back"
	}
	return fmt.Sprintf("the wall clock of %s jumps %s by %v", c.Process, where, c.By.Abs())
}

// Inject implements Fault.
func (c *ClockStep) Inject(f *Field) error {
	isOfClient := slices.Contains(f.ground.Clients(), c.Process)
	if f.ground.StepClock(c.Process, c.By) && !(isOfClient && f.Monotonic) {
		f.uses(f.ground.Now(), func(u *Used) { u.ClockStep = max(u.ClockStep, f.of(c.Process).stepped(c.By)) })
	}
	f.happens(c, c.By)
	return nil
}

// ClockRate makes both clocks of a process run fast or slow: a bad crystal, or a time daemon that slews.
type ClockRate struct {
	// Process is a client or a node. Example: C
	Process string `yaml:"process,required" of:"process"`
	// Rate is by how much the clocks are fast, or slow if negative. Example: -0.5%
	Rate Rate `yaml:"rate,required" budget:"clock-rate"`
	// For is the length in true time; 0s is for good. Default: 0s. Example: 30s
	For time.Duration `yaml:"for" range:"0s.."`
}

// beyondRate is how wrong the worst of clocks are that are drawn beyond the budget. Kleppmann's and antirez's examples stay
// below.
const beyondRate = kernel.MaxRate / 2

func (c *ClockRate) String() string {
	how := "fast"
	if c.Rate.PPB() < 0 {
		how = "slow"
	}
	return fmt.Sprintf("the clocks of %s run %s %s", c.Process, c.Rate.abs(), how)
}

func (c *ClockRate) drawn(from Choices, l *Limits) bool {
	limit := l.Budget.ClockRate.PPB()
	if l.Beyond {
		limit = beyondRate
	}
	if limit <= 0 {
		return false
	}
	ppb := limit
	if from.For("worst", 0).Below(2) == 1 {
		ppb = 1 + from.For("ppb", 0).Below(limit)
	}
	if from.For("slow", 0).Below(2) == 1 {
		ppb = -ppb
	}
	c.Rate = ppbRate(ppb)
	if from.For("ends", 0).Below(2) == 1 {
		c.For = l.Times.Length(from.For("for", 0), minOutage, 3*l.Scale)
	}
	return true
}

// Inject implements Fault.
func (c *ClockRate) Inject(f *Field) error {
	f.during(c, c.For, f.wrongRate(c.Process, c.Rate), "the clocks of %s run as before", c.Process)
	return nil
}

// ClockStall makes all clocks of a process stand still for a while, as on a host whose clock source hangs, and then go on from
// where they stood. The process itself runs: it sends and answers, its timers do not come, and on a node no key expires. A
// clock that stands still is one with a rate error of -100 %, which no budget covers.
type ClockStall struct {
	// Process is a client or a node. Example: client-1
	Process string `yaml:"process,required" of:"process"`
	// For is the length in true time; the clocks are behind by as much from then on. Example: 20s
	For time.Duration `yaml:"for,required" range:"1ns.." budget:"clock-rate" from:"100ms" size:"the time for which the clocks stand still"`
}

// still is the rate error of clocks that stand still.
var still = RateOf(decimal.New(-1, 0))

func (c *ClockStall) String() string {
	return fmt.Sprintf("the clocks of %s stand still for %v", c.Process, c.For)
}

// Inject implements Fault.
func (c *ClockStall) Inject(f *Field) error {
	f.during(c, c.For, f.wrongRate(c.Process, still), "the clocks of %s go on from where they stood", c.Process)
	return nil
}
