package faults

// Restart starts a node that is down, with what is on its disk.
type Restart struct {
	// Node is the node. Example: C
	Node string `yaml:"node,required"`
}

var restart = Kind{
	Name: "restart", New: func() Fault { return new(Restart) },
	Target: OneNode, Takes: memoryLoss,
	// Whenever the node went down: no budget can be kept.
	Draw: func(c Choices, l *Limits) Fault {
		if !l.Beyond {
			return nil
		}
		return &Restart{Node: l.node(c)}
	},
	Place: func(l *Limits) []Fault {
		return forEach(l.Names.Nodes, func(n string) Fault { return &Restart{Node: n} })
	},
}

func (r *Restart) String() string { return r.Node + " restarts" }

// Check implements Fault.
func (r *Restart) Check(n Names) []Problem { return among("node", r.Node, n.Nodes, "node") }

// Inject implements Fault.
func (r *Restart) Inject(f *Field) error { return f.restart(r.Node) }

// Target implements Fault.
func (r *Restart) Target() string { return r.Node }

// Size implements Fault: it has no number.
func (r *Restart) Size() *Size { return nil }

// Live implements Fault.
func (r *Restart) Live(Deployment) Live { return Live{} }
