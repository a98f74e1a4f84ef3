package faults

// Stuck makes a client's work under its lock go on forever, in a loop or waiting for something that never comes, while it
// keeps renewing the lock.
type Stuck struct {
	// Client is the client. Example: client-1
	Client string `yaml:"client,required"`
}

var stuck = Kind{
	Name: "stuck", New: func() Fault { return new(Stuck) },
	Target: OneClient, Stops: true,
	Draw: func(c Choices, l *Limits) Fault { return &Stuck{Client: l.client(c)} },
	Place: func(l *Limits) []Fault {
		return forEach(l.Names.Clients, func(c string) Fault { return &Stuck{Client: c} })
	},
}

func (s *Stuck) String() string { return s.Client + " hangs in its work" }

// Check implements Fault.
func (s *Stuck) Check(n Names) []Problem { return among("client", s.Client, n.Clients, "client") }

// Inject implements Fault.
func (s *Stuck) Inject(f *Field) error {
	f.ground.Hang(s.Client)
	f.note("stuck", s.Client, "", 0, "%v", s)
	return nil
}

// Target implements Fault.
func (s *Stuck) Target() string { return s.Client }

// Size implements Fault: it has no number.
func (s *Stuck) Size() *Size { return nil }

// Live implements Fault.
func (s *Stuck) Live(Deployment) Live { return Live{} }
