package faults

import (
	"fmt"
	"time"
)

// Delay slows the messages sent on some links.
type Delay struct {
	Links `yaml:",inline"`
	// By is added to each message's delay. Example: 50ms
	By time.Duration `yaml:"by,required"`
	// For is the length in true time; 0s is for good. Default: 0s. Example: 5s
	For time.Duration `yaml:"for"`
}

var delay = Kind{
	Name: "delay", New: func() Fault { return new(Delay) },
	Target: SomeLinks, Takes: []string{"delay"}, Stalls: 1, Ends: "delay-ends",
	Draw: func(c Choices, l *Limits) Fault {
		by, ok := l.upTo(c.For("by", 0), time.Millisecond, l.Budget.Delay)
		if !ok {
			return nil
		}
		return &Delay{Links: l.links(c), By: by, For: l.Times.Length(c.For("for", 0), minOutage, 2*l.Scale)}
	},
	Place: func(l *Limits) (all []Fault) {
		for _, links := range l.allLinks() {
			all = append(all, forEach(l.allSizes(l.Budget.Delay), func(d time.Duration) Fault {
				return &Delay{Links: links, By: d, For: 2 * l.Scale}
			})...)
		}
		return all
	},
}

func (d *Delay) String() string { return fmt.Sprintf("messages %v take %v longer", &d.Links, d.By) }

// Check implements Fault.
func (d *Delay) Check(n Names) []Problem {
	return append(append(d.check(n), positive("by", d.By)...), notNegative("for", d.For)...)
}

// Inject implements Fault.
func (d *Delay) Inject(f *Field) error {
	most, undo := f.ground.Slow(&d.Links, d.By)
	f.uses(f.ground.Now(), func(u *Used) { u.Delay = max(u.Delay, most) })
	f.note("delay", d.client(), "", d.By, "%v", d)
	f.lasts(d.For, func() {
		undo()
		f.note("delay-ends", d.client(), "", 0, "messages %v are as fast as before", &d.Links)
	})
	return nil
}

// Size implements Fault: what is added and how long it lasts are made smaller one by one.
func (d *Delay) Size() *Size { return nil }

// Late implements Late.
func (d *Delay) Late() time.Duration { return d.By }

// Live implements Fault. What a master has not told its replicas yet is lost if it stops now: no sooner than it takes to stop
// it.
func (d *Delay) Live(Deployment) Live {
	return Live{Silence: d.By, Apart: d.By, Unhurried: len(d.Peers) > 0}
}
