package faults

// Crash ends a client process for good.
type Crash struct {
	// Client is the client. Example: client-1
	Client string `yaml:"client,required"`
}

var crash = Kind{
	Name: "crash", New: func() Fault { return new(Crash) },
	Target: OneClient, Local: true,
	Draw: func(c Choices, l *Limits) Fault { return &Crash{Client: l.client(c)} },
	Place: func(l *Limits) []Fault {
		return forEach(l.Names.Clients, func(c string) Fault { return &Crash{Client: c} })
	},
}

func (c *Crash) String() string { return c.Client + " crashes" }

// Check implements Fault.
func (c *Crash) Check(n Names) []Problem { return among("client", c.Client, n.Clients, "client") }

// Inject implements Fault.
func (c *Crash) Inject(f *Field) error { return f.ground.Crash(c.Client) }

// Target implements Fault.
func (c *Crash) Target() string { return c.Client }

// Size implements Fault: it has no number.
func (c *Crash) Size() *Size { return nil }

// Live implements Fault.
func (c *Crash) Live(Deployment) Live { return Live{} }
