package faults

import (
	"fmt"
	"time"
)

// Entropy takes a client's source of random bytes away for a while, as a sandbox does that forbids getrandom. A library that
// needs random bytes then gets an error. Only protocol redlock reads its random bytes from a source that can fail.
type Entropy struct {
	// Client is the client. Example: client-1
	Client string `yaml:"client,required"`
	// For is the length in true time. Default: for good. Example: 5s
	For time.Duration `yaml:"for"`
}

var entropy = Kind{
	Name: "entropy", New: func() Fault { return new(Entropy) },
	Target: OneClient, Ends: "entropy-ends",
	Applies: func(l *Limits) bool { return l.Random },
	Draw: func(c Choices, l *Limits) Fault {
		return &Entropy{Client: l.client(c), For: l.Times.Length(c.For("for", 0), minStill, 2*l.Scale)}
	},
	Place: func(l *Limits) []Fault {
		return forEach(l.Names.Clients, func(c string) Fault { return &Entropy{Client: c, For: l.Scale} })
	},
}

func (e *Entropy) String() string {
	if e.For == 0 {
		return fmt.Sprintf("%s has no random bytes", e.Client)
	}
	return fmt.Sprintf("%s has no random bytes for %v", e.Client, e.For)
}

// Check implements Fault.
func (e *Entropy) Check(n Names) []Problem {
	return append(among("client", e.Client, n.Clients, "client"), notNegative("for", e.For)...)
}

// Inject implements Fault.
func (e *Entropy) Inject(f *Field) error {
	end, err := f.ground.Starve(e.Client)
	if err != nil {
		return err
	}
	f.note("entropy", e.Client, "", e.For, "%v", e)
	f.lasts(e.For, func() {
		end()
		f.note("entropy-ends", e.Client, "", 0, "%s has random bytes again", e.Client)
	})
	return nil
}

// Target implements Fault.
func (e *Entropy) Target() string { return e.Client }

// Size implements Fault.
func (e *Entropy) Size() *Size {
	return &Size{Value: e.For, Knob: "the time without random bytes", With: func(d time.Duration) Fault { return &Entropy{Client: e.Client, For: d} }}
}

// Live implements Fault.
func (e *Entropy) Live(Deployment) Live {
	return Live{Not: "the random bytes of an operating system cannot be taken away from one process"}
}
