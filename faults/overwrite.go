package faults

import (
	"fmt"

	"redlocksim/sim/redis"
)

// Overwrite puts a list without a TTL in the place of keys of locks that a Redis node has, as somebody does by hand, or
// another program that uses the names for something else. Whoever holds such a lock loses the node's vote, and nobody else
// gets it; commands that want a string answer with an error. If the node has no such key, the fault counts as not injected.
type Overwrite struct {
	// Node is the node. Example: A
	Node string `yaml:"node,required"`
	// Resource is the resource whose lock is overwritten. Default: all resources. Example: stock
	Resource string `yaml:"resource"`
}

// overwritten is that list.
var overwritten = redis.ListValue([]string{"overwritten"})

// IsOverwritten says whether a key is as a fault has left it that overwrote it.
func IsOverwritten(r redis.Record) bool { return r.Value == overwritten }

var overwrite = Kind{
	Name: "overwrite", New: func() Fault { return new(Overwrite) },
	Target:  OneNode,
	Applies: func(l *Limits) bool { return l.Names.Service == "" },
	Draw:    func(c Choices, l *Limits) Fault { return &Overwrite{Node: l.node(c), Resource: l.resource(c)} },
	Place: func(l *Limits) []Fault {
		return forEach(l.Names.Nodes, func(n string) Fault { return &Overwrite{Node: n} })
	},
}

func (x *Overwrite) String() string {
	whose := "every lock's key"
	if x.Resource != "" {
		whose = "the key of the lock on " + x.Resource
	}
	return fmt.Sprintf("%s on %s is overwritten with a list", whose, x.Node)
}

// Check implements Fault.
func (x *Overwrite) Check(n Names) []Problem {
	return append(among("node", x.Node, n.Nodes, "node"), amongResources(x.Resource, n)...)
}

// Inject implements Fault.
func (x *Overwrite) Inject(f *Field) error {
	if err := f.ground.Overwrite(x.Node, locksOf(f.ground, x.Resource)); err != nil {
		return err
	}
	f.note("overwrite", "", x.Node, 0, "%v", x)
	return nil
}

// Target implements Fault.
func (x *Overwrite) Target() string { return x.Node }

// Size implements Fault: it has none.
func (x *Overwrite) Size() *Size { return nil }

// Live implements Fault.
func (x *Overwrite) Live(Deployment) Live { return Live{Not: notByHand} }
