package faults

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/sim/kernel"
)

// ClockRate makes both clocks of a process run fast or slow: a bad crystal, or a time daemon that slews.
type ClockRate struct {
	// Process is a client or a node. Example: C
	Process string `yaml:"process,required"`
	// Rate is by how much the clocks are fast, or slow if negative. Example: -0.5%
	Rate Rate `yaml:"rate,required"`
	// For is the length in true time; 0s is for good. Default: 0s. Example: 30s
	For time.Duration `yaml:"for"`
}

// Rate errors beyond the budget: how wrong the worst of clocks are that are drawn, which Kleppmann's and antirez's examples
// stay below, and what is placed.
const (
	beyondRate = kernel.MaxRate / 2
	placedRate = 100_000_000
)

var clockRate = Kind{
	Name: "clock-rate", New: func() Fault { return new(ClockRate) },
	Target: AnyProcess, Takes: []string{"clock-rate"}, Ends: "clock-rate-ends",
	Draw: drawClockRate,
	Place: func(l *Limits) (all []Fault) {
		var rates []int64
		budget := l.Budget.ClockRate.PPB()
		if budget > 0 {
			rates = append(rates, budget)
		}
		if l.Beyond && budget < placedRate {
			rates = append(rates, placedRate)
		}
		for _, p := range l.Names.all() {
			for _, ppb := range rates {
				all = append(all, &ClockRate{Process: p, Rate: ppbRate(ppb)}, &ClockRate{Process: p, Rate: ppbRate(-ppb)})
			}
		}
		return all
	},
}

func drawClockRate(c Choices, l *Limits) Fault {
	limit := l.Budget.ClockRate.PPB()
	if l.Beyond {
		limit = beyondRate
	}
	if limit <= 0 {
		return nil
	}
	ppb := limit
	if c.For("worst", 0).Below(2) == 1 {
		ppb = 1 + c.For("ppb", 0).Below(limit)
	}
	if c.For("slow", 0).Below(2) == 1 {
		ppb = -ppb
	}
	r := &ClockRate{Process: l.process(c), Rate: ppbRate(ppb)}
	if c.For("ends", 0).Below(2) == 1 {
		r.For = l.Times.Length(c.For("for", 0), minOutage, 3*l.Scale)
	}
	return r
}

func (c *ClockRate) String() string {
	how := "fast"
	if c.Rate.PPB() < 0 {
		how = "slow"
	}
	return fmt.Sprintf("the clocks of %s run %s %s", c.Process, c.Rate.abs(), how)
}

// Check implements Fault.
func (c *ClockRate) Check(n Names) []Problem {
	problems := among("process", c.Process, n.all(), "client or node")
	if c.Rate.abs().ratio.GreaterThan(decimal.New(kernel.MaxRate, -9)) {
		problems = append(problems, Problem{Field: "rate", Word: c.Rate.String(), Text: "must be from -50% to 50%"})
	}
	return append(problems, notNegative("for", c.For)...)
}

// Inject implements Fault.
func (c *ClockRate) Inject(f *Field) error {
	end := f.wrongRate(c.Process, c.Rate)
	f.notePoint("clock-rate", c.Process, c.For, "%v", c)
	f.lasts(c.For, func() {
		end()
		f.notePoint("clock-rate-ends", c.Process, 0, "the clocks of %s run as before", c.Process)
	})
	return nil
}

// Target implements Fault.
func (c *ClockRate) Target() string { return c.Process }

// Size implements Fault: the rate and how long it lasts are made smaller one by one.
func (c *ClockRate) Size() *Size { return nil }

// Live implements Fault.
func (c *ClockRate) Live(Deployment) Live { return Live{Clocks: true} }
