package faults

import (
	"fmt"
	"time"
)

// Hold keeps back the messages that arrive on some links, and later delivers them in order.
type Hold struct {
	Links `yaml:",inline"`
	// For is the length in true time. Example: 2s
	For time.Duration `yaml:"for,required"`
}

var hold = Kind{
	Name: "hold", New: func() Fault { return new(Hold) },
	Target: SomeLinks, Takes: []string{"delay"}, Ends: "hold-ends",
	Draw: func(c Choices, l *Limits) Fault {
		length, ok := l.upTo(c.For("for", 0), minStill, l.Budget.Delay)
		if !ok {
			return nil
		}
		return &Hold{Links: l.links(c), For: length}
	},
	Place: func(l *Limits) (all []Fault) {
		for _, links := range l.allLinks() {
			all = append(all, forEach(l.allSizes(l.Budget.Delay), func(d time.Duration) Fault { return &Hold{Links: links, For: d} })...)
		}
		return all
	},
}

func (h *Hold) String() string {
	return fmt.Sprintf("messages %v are held back for %v", &h.Links, h.For)
}

// Check implements Fault.
func (h *Hold) Check(n Names) []Problem { return append(h.check(n), positive("for", h.For)...) }

// Inject implements Fault.
func (h *Hold) Inject(f *Field) error {
	undo := f.ground.Hold(&h.Links)
	began := f.ground.Now()
	delays := func(d time.Duration) { f.uses(began, func(u *Used) { u.Delay = max(u.Delay, d) }) }
	delays(h.For) // more where another one overlaps, or what it holds was slowed, which its end shows
	f.note("hold", h.client(), "", h.For, "%v", h)
	f.lasts(h.For, func() {
		f.note("hold-ends", h.client(), "", 0, "messages %v that were held back arrive", &h.Links)
		delays(undo())
	})
	return nil
}

// Size implements Fault.
func (h *Hold) Size() *Size {
	return &Size{Value: h.For, Knob: "the time for which messages are held back", With: func(d time.Duration) Fault { return &Hold{Links: h.Links, For: d} }}
}

// Late implements Late.
func (h *Hold) Late() time.Duration { return h.For }

// Live implements Fault.
func (h *Hold) Live(Deployment) Live { return Live{Silence: h.For} }
