package faults

// Shutdown stops a node cleanly, after it has written what it persists.
type Shutdown struct {
	Outage `yaml:",inline"`
}

var shutdown = Kind{
	Name: "shutdown", New: func() Fault { return new(Shutdown) },
	Target: OneNode, Takes: memoryLoss,
	Draw: func(c Choices, l *Limits) Fault { return &Shutdown{l.outage(c, ShutDown)} },
	Place: func(l *Limits) []Fault {
		return forEach(l.allOutages(ShutDown), func(o Outage) Fault { return &Shutdown{o} })
	},
}

func (s *Shutdown) String() string { return s.Node + " is shut down" }

// Check implements Fault.
func (s *Shutdown) Check(n Names) []Problem { return s.check(n) }

// Inject implements Fault.
func (s *Shutdown) Inject(f *Field) error {
	return f.stop("shutdown", s.delay(), &s.Outage, ShutDown, s.String())
}

// Size implements Fault.
func (s *Shutdown) Size() *Size { return s.size(func(o Outage) Fault { return &Shutdown{o} }) }

// Live implements Fault.
func (s *Shutdown) Live(Deployment) Live { return Live{} }
