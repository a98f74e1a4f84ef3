package faults

import "time"

// Crash ends a client process, as kill −9 does. Started again it knows nothing of what it did before.
type Crash struct {
	// Client is the client. Example: client-1
	Client string `yaml:"client,required"`
	// RestartAfter is how long after the crash the client is started again, in true time, under its old name and on the same
	// machine. What its programs were doing is over; items of the timeline that begin later run in it. Default: never.
	// Example: 2s
	RestartAfter *time.Duration `yaml:"restart-after"`
}

var crash = Kind{
	Name: "crash", New: func() Fault { return new(Crash) },
	Target: OneClient, Local: true, Ends: "client-restarts",
	Draw: func(c Choices, l *Limits) Fault {
		x := &Crash{Client: l.client(c)}
		if c.For("for good", 0).Below(4) != 3 {
			after := l.Times.Length(c.For("restart", 0), 0, l.Scale)
			x.RestartAfter = &after
		}
		return x
	},
	Place: func(l *Limits) []Fault {
		return forEach(l.Names.Clients, func(c string) Fault { return &Crash{Client: c} })
	},
}

func (c *Crash) String() string { return c.Client + " crashes" }

// Check implements Fault.
func (c *Crash) Check(n Names) []Problem {
	problems := among("client", c.Client, n.Clients, "client")
	if c.RestartAfter != nil {
		problems = append(problems, notNegative("restart-after", *c.RestartAfter)...)
	}
	return problems
}

// Inject implements Fault.
func (c *Crash) Inject(f *Field) error {
	if err := f.ground.Crash(c.Client); err != nil || c.RestartAfter == nil {
		return err
	}
	after := *c.RestartAfter
	f.ground.After(after, func() {
		if f.ground.Restart(c.Client) == nil { // the ground says elsewhere that it failed
			f.note("client-restarts", c.Client, "", after, "%s is started again %v after its crash", c.Client, after)
		}
	})
	return nil
}

// Target implements Fault.
func (c *Crash) Target() string { return c.Client }

// Size implements Fault: that of the restart.
func (c *Crash) Size() *Size {
	if c.RestartAfter == nil {
		return nil
	}
	return &Size{Value: *c.RestartAfter, Knob: "the delay of the restart", Shrinks: true, With: func(d time.Duration) Fault {
		return &Crash{Client: c.Client, RestartAfter: &d}
	}}
}

// Live implements Fault.
func (c *Crash) Live(Deployment) Live { return Live{} }
