package faults

// PowerLoss turns a node's machine off. It loses what was not fsynced, and clients get no answer, not even a refusal.
type PowerLoss struct {
	Outage `yaml:",inline"`
}

var powerLoss = Kind{
	Name: "power-loss", New: func() Fault { return new(PowerLoss) },
	Target: OneNode, Takes: append([]string{"no-power-loss"}, memoryLoss...),
	Draw: func(c Choices, l *Limits) Fault {
		if l.Budget.NoPowerLoss && !l.Beyond {
			return nil
		}
		return &PowerLoss{l.outage(c, PoweredOff)}
	},
	Place: func(l *Limits) []Fault {
		return forEach(l.allOutages(PoweredOff), func(o Outage) Fault { return &PowerLoss{o} })
	},
	Tight: tightRestart,
}

func (p *PowerLoss) String() string { return p.Node + " loses power" }

// Check implements Fault.
func (p *PowerLoss) Check(n Names) []Problem { return p.check(n) }

// Inject implements Fault.
func (p *PowerLoss) Inject(f *Field) error {
	err := f.stop("power-loss", p.delay(), &p.Outage, PoweredOff, p.String())
	if err == nil {
		f.uses(f.ground.Now(), func(u *Used) { u.Unpowered = append(u.Unpowered, p.Node) })
	}
	return err
}

// Size implements Fault.
func (p *PowerLoss) Size() *Size { return p.size(func(o Outage) Fault { return &PowerLoss{o} }) }

// Live implements Fault.
func (p *PowerLoss) Live(Deployment) Live { return Live{Unsynced: true} }
