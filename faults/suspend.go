package faults

import (
	"fmt"
	"time"
)

// Suspend stops a client together with its machine: a closed laptop, a frozen virtual machine. The monotonic clock stands
// still meanwhile.
type Suspend struct {
	// Client is the client. Example: client-1
	Client string `yaml:"client,required"`
	// For is the length in true time. Example: 1m
	For time.Duration `yaml:"for,required"`
}

var suspend = Kind{
	Name: "suspend", New: func() Fault { return new(Suspend) },
	Target: OneClient, Local: true, Takes: []string{"suspend"}, Stalls: 1, Stops: true,
	Draw: func(c Choices, l *Limits) Fault {
		length, ok := l.upTo(c.For("for", 0), minStill, l.Budget.Suspend)
		if !ok {
			return nil
		}
		return &Suspend{Client: l.client(c), For: length}
	},
	Place: func(l *Limits) (all []Fault) {
		for _, c := range l.Names.Clients {
			all = append(all, forEach(l.allSizes(l.Budget.Suspend), func(d time.Duration) Fault { return &Suspend{Client: c, For: d} })...)
		}
		return all
	},
}

func (s *Suspend) String() string {
	return fmt.Sprintf("the machine of %s is suspended for %v", s.Client, s.For)
}

// Check implements Fault.
func (s *Suspend) Check(n Names) []Problem {
	return append(among("client", s.Client, n.Clients, "client"), positive("for", s.For)...)
}

// Inject implements Fault.
func (s *Suspend) Inject(f *Field) error {
	end, err := f.suspend(s.Client)
	if err != nil {
		return err
	}
	f.uses(f.ground.Now(), func(u *Used) { u.Suspend = max(u.Suspend, f.suspended(s.Client, s.For)) })
	f.note("suspend", s.Client, "", s.For, "%v", s)
	f.lasts(s.For, end)
	return nil
}

// Target implements Fault.
func (s *Suspend) Target() string { return s.Client }

// Size implements Fault.
func (s *Suspend) Size() *Size {
	return &Size{Value: s.For, Knob: "the suspension", With: func(d time.Duration) Fault { return &Suspend{Client: s.Client, For: d} }}
}

// Late implements Late.
func (s *Suspend) Late() time.Duration { return s.For }

// Live implements Fault.
func (s *Suspend) Live(Deployment) Live { return Live{Clocks: true} }
