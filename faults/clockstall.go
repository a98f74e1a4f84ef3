package faults

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"
)

// ClockStall makes all clocks of a process stand still for a while, as on a host whose clock source hangs, and then go on from
// where they stood. The process itself runs: it sends and answers, its timers do not come, and on a node no key expires. A
// clock that stands still is one with a rate error of -100 %, which no budget covers.
type ClockStall struct {
	// Process is a client or a node. Example: client-1
	Process string `yaml:"process,required"`
	// For is the length in true time; the clocks are behind by as much from then on. Example: 20s
	For time.Duration `yaml:"for,required"`
}

var clockStall = Kind{
	Name: "clock-stall", New: func() Fault { return new(ClockStall) },
	Target: AnyProcess, Takes: []string{"clock-rate"}, Ends: "clock-stall-ends",
	Draw: func(c Choices, l *Limits) Fault {
		length, ok := l.upTo(c.For("for", 0), minOutage, 0)
		if !ok {
			return nil
		}
		return &ClockStall{Process: l.process(c), For: length}
	},
	Place: func(l *Limits) (all []Fault) {
		for _, p := range l.Names.all() {
			all = append(all, forEach(l.allSizes(0), func(d time.Duration) Fault { return &ClockStall{Process: p, For: d} })...)
		}
		return all
	},
}

// still is the rate error of clocks that stand still.
var still = RateOf(decimal.New(-1, 0))

func (c *ClockStall) String() string {
	return fmt.Sprintf("the clocks of %s stand still for %v", c.Process, c.For)
}

// Check implements Fault.
func (c *ClockStall) Check(n Names) []Problem {
	return append(among("process", c.Process, n.all(), "client or node"), positive("for", c.For)...)
}

// Inject implements Fault.
func (c *ClockStall) Inject(f *Field) error {
	end := f.wrongRate(c.Process, still)
	f.notePoint("clock-stall", c.Process, c.For, "%v", c)
	f.lasts(c.For, func() {
		end()
		f.notePoint("clock-stall-ends", c.Process, 0, "the clocks of %s go on from where they stood", c.Process)
	})
	return nil
}

// Target implements Fault.
func (c *ClockStall) Target() string { return c.Process }

// Size implements Fault.
func (c *ClockStall) Size() *Size {
	return &Size{Value: c.For, Knob: "the time for which the clocks stand still", With: func(d time.Duration) Fault { return &ClockStall{Process: c.Process, For: d} }}
}

// Live implements Fault.
func (c *ClockStall) Live(Deployment) Live { return Live{Clocks: true} }
