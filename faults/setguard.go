package faults

import (
	"fmt"
	"time"

	"redlocksim/internal/rounded"
)

// SetGuard sets the largest TTL in a node's record of the restart guard, as clients with another one do that prepare it for
// themselves: those of the lock get no vote from it then. A node without a record stays so, and the
// fault counts as not injected.
type SetGuard struct {
	// Node is the node. Example: A
	Node string `yaml:"node,required"`
	// MaxTTL is what the record says then. That of the lock mends it; with 0 the record is none that anybody can read, until
	// the node is prepared anew or loses it. Example: 20s
	MaxTTL time.Duration `yaml:"max-ttl,required"`
}

var setGuard = Kind{
	Name: "set-guard", New: func() Fault { return new(SetGuard) },
	Target:  OneNode,
	Applies: func(l *Limits) bool { return l.MaxTTL > 0 },
	Draw: func(c Choices, l *Limits) Fault {
		return &SetGuard{Node: l.node(c), MaxTTL: OneOf(c.For("to", 0), l.MaxTTL, l.MaxTTL+time.Millisecond, 2*l.MaxTTL, time.Millisecond, 0)}
	},
	Place: func(l *Limits) []Fault {
		return forEach(l.Names.Nodes, func(n string) Fault { return &SetGuard{Node: n, MaxTTL: 2 * l.MaxTTL} })
	},
}

func (x *SetGuard) String() string {
	if x.MaxTTL == 0 {
		return fmt.Sprintf("the record of the restart guard on %s is overwritten with something else", x.Node)
	}
	return fmt.Sprintf("the largest TTL in the record of the restart guard on %s is set to %v", x.Node, rounded.Duration(x.MaxTTL))
}

// Check implements Fault.
func (x *SetGuard) Check(n Names) []Problem {
	problems := among("node", x.Node, n.Nodes, "node")
	if x.MaxTTL < 0 || x.MaxTTL%time.Millisecond != 0 {
		problems = append(problems, Problem{Field: "max-ttl", Word: fmt.Sprint(x.MaxTTL), Text: "must be a whole number of milliseconds, and not negative"})
	}
	return problems
}

// Inject implements Fault.
func (x *SetGuard) Inject(f *Field) error {
	if err := f.ground.Guard(x.Node, x.MaxTTL); err != nil {
		return err
	}
	f.note("set-guard", "", x.Node, 0, "%v", x)
	return nil
}

// Target implements Fault.
func (x *SetGuard) Target() string { return x.Node }

// Size implements Fault: its length is none of something that goes wrong.
func (x *SetGuard) Size() *Size { return nil }

// Live implements Fault.
func (x *SetGuard) Live(Deployment) Live { return Live{Not: notByHand} }
