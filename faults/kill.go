package faults

// Kill ends the process of a node, as kill −9 does. It loses what it had not handed to the operating system.
type Kill struct {
	Outage `yaml:",inline"`
}

var kill = Kind{
	Name: "kill", New: func() Fault { return new(Kill) },
	Target: OneNode, Takes: memoryLoss,
	Draw: func(c Choices, l *Limits) Fault { return &Kill{l.outage(c, Killed)} },
	Place: func(l *Limits) []Fault {
		return forEach(l.allOutages(Killed), func(o Outage) Fault { return &Kill{o} })
	},
	Tight: tightRestart,
}

func (k *Kill) String() string { return k.Node + " is killed" }

// Check implements Fault.
func (k *Kill) Check(n Names) []Problem { return k.check(n) }

// Inject implements Fault.
func (k *Kill) Inject(f *Field) error {
	return f.stop("kill", k.delay(), &k.Outage, Killed, k.String())
}

// Size implements Fault.
func (k *Kill) Size() *Size { return k.size(func(o Outage) Fault { return &Kill{o} }) }

// Live implements Fault.
func (k *Kill) Live(Deployment) Live { return Live{} }
