package faults

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/sim"
)

// ClockStep moves the wall clock of a process at once, as an operator or a time daemon does. Redis expires keys by the wall
// clock. Monotonic clocks do not step.
type ClockStep struct {
	// Process is a client or a node. Example: C
	Process string `yaml:"process,required"`
	// By is how far forward, or back if negative. Example: 10s
	By time.Duration `yaml:"by,required"`
}

// Check implements Fault.
func (c *ClockStep) Check(n Names) []Problem {
	return among("process", c.Process, n.all(), "client or node")
}

// Apply implements Fault.
func (c *ClockStep) Apply(f *Field) error {
	f.World.Process(c.Process).Clock().Step(c.By)
	f.Spent.ClockStep = max(f.Spent.ClockStep, c.By.Abs())
	where := "forward"
	if c.By < 0 {
		where = "back"
	}
	f.notePoint("clock-step", c.Process, c.By, "the wall clock of %s jumps %s by %v", c.Process, where, c.By.Abs())
	return nil
}

// ClockRate makes both clocks of a process run fast or slow: a bad crystal, or a time daemon that slews.
type ClockRate struct {
	// Process is a client or a node. Example: C
	Process string `yaml:"process,required"`
	// Rate is by how much the clocks are fast, or slow if negative. Example: -0.5%
	Rate Rate `yaml:"rate,required"`
	// For is the length in true time; 0s is for good. Default: 0s. Example: 30s
	For time.Duration `yaml:"for"`
}

// Check implements Fault.
func (c *ClockRate) Check(n Names) []Problem {
	problems := among("process", c.Process, n.all(), "client or node")
	if c.Rate.abs().ratio.GreaterThan(decimal.New(sim.MaxRate, -9)) {
		problems = append(problems, Problem{Field: "rate", Word: c.Rate.String(), Text: "must be from -50% to 50%"})
	}
	return append(problems, notNegative("for", c.For)...)
}

// rateInForce is a rate error that has not ended.
type rateInForce struct{ ppb int64 }

// setRate gives a process the rate error that is in force since last.
func (f *Field) setRate(process string) {
	var ppb int64
	if in := f.rates[process]; len(in) > 0 {
		ppb = in[len(in)-1].ppb
	}
	f.World.Process(process).Clock().SetRate(ppb)
}

// Apply implements Fault.
func (c *ClockRate) Apply(f *Field) error {
	this := &rateInForce{c.Rate.PPB()}
	f.rates[c.Process] = append(f.rates[c.Process], this)
	f.setRate(c.Process)
	f.Spent.ClockRate = f.Spent.ClockRate.atLeast(c.Rate.abs())
	how := "fast"
	if c.Rate.PPB() < 0 {
		how = "slow"
	}
	f.notePoint("clock-rate", c.Process, c.For, "the clocks of %s run %s %s", c.Process, c.Rate.abs(), how)
	f.lasts(c.For, func() {
		f.rates[c.Process] = slices.DeleteFunc(f.rates[c.Process], func(r *rateInForce) bool { return r == this })
		f.setRate(c.Process)
		f.notePoint("clock-rate-ends", c.Process, 0, "the clocks of %s run as before", c.Process)
	})
	return nil
}
