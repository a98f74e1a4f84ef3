package faults

import (
	"fmt"

	"redlocksim/sim/network"
)

// Reset breaks all connections of some links. What was in flight is lost, and the clients are told at once.
type Reset struct {
	Links `yaml:",inline"`
}

var reset = Kind{
	Name: "reset", New: func() Fault { return new(Reset) },
	Target: SomeLinks,
	Draw:   func(c Choices, l *Limits) Fault { return &Reset{Links: l.links(c)} },
	Place: func(l *Limits) (all []Fault) {
		for _, links := range l.allLinks() {
			if links.Direction == network.Both {
				all = append(all, &Reset{Links: links})
			}
		}
		return all
	},
}

func (r *Reset) String() string { return fmt.Sprintf("connections %v are reset", &r.Links) }

// Check implements Fault.
func (r *Reset) Check(n Names) []Problem { return r.check(n) }

// Inject implements Fault.
func (r *Reset) Inject(f *Field) error {
	f.note("reset", r.client(), "", 0, "%v", r)
	f.ground.Reset(&r.Links)
	return nil
}

// Size implements Fault: its lists are shortened.
func (r *Reset) Size() *Size { return nil }

// Live implements Fault. In the simulator a reset breaks a subscription.
func (r *Reset) Live(d Deployment) Live {
	if d.Subscribes {
		return Live{Not: fmt.Sprintf("protocol %s subscribes, and after a reset go-redis subscribes again", d.Protocol)}
	}
	return Live{}
}
