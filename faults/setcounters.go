package faults

import "fmt"

// SetCounters sets all fencing counters that a node has to one number, as somebody does by hand, or to what votes have raised
// them to if that is higher: so none is lost, and 0 mends them. One that is too high costs the node its vote.
type SetCounters struct {
	// Node is the node. Example: A
	Node string `yaml:"node,required"`
	// To is the number. Example: 1048576
	To int64 `yaml:"to,required"`
}

// largestCount is the largest number up to which Redis' scripts tell any two integers apart.
const largestCount = 1<<53 - 1

var setCounters = Kind{
	Name: "set-counters", New: func() Fault { return new(SetCounters) },
	Target:  OneNode,
	Applies: func(l *Limits) bool { return l.Fenced },
	Draw: func(c Choices, l *Limits) Fault {
		return &SetCounters{Node: l.node(c), To: FarCount(c)}
	},
	Place: func(l *Limits) []Fault {
		return forEach(l.Names.Nodes, func(n string) Fault { return &SetCounters{Node: n, To: largestCount} })
	},
}

// FarCount draws a number that is far from what votes have raised counters to, as far as some of those that decide something.
func FarCount(c Choices) int64 {
	far := OneOf(c.For("how far", 0), 1, 1<<12, 1<<20, 1<<31, 1<<32, 1<<40, int64(largestCount-1), largestCount)
	return far - c.For("less", 0).Below(2)
}

func (x *SetCounters) String() string {
	if x.To == 0 {
		return fmt.Sprintf("the fencing counters on %s are mended", x.Node)
	}
	return fmt.Sprintf("the fencing counters on %s are set to %d", x.Node, x.To)
}

// Check implements Fault.
func (x *SetCounters) Check(n Names) []Problem {
	problems := among("node", x.Node, n.Nodes, "node")
	if x.To < 0 || x.To > largestCount {
		problems = append(problems, Problem{Field: "to", Word: fmt.Sprint(x.To), Text: "must be from 0 to 2^53−1"})
	}
	return problems
}

// Inject implements Fault.
func (x *SetCounters) Inject(f *Field) error {
	if err := f.ground.Count(x.Node, x.To); err != nil {
		return err
	}
	f.note("set-counters", "", x.Node, 0, "%v", x)
	return nil
}

// Target implements Fault.
func (x *SetCounters) Target() string { return x.Node }

// Size implements Fault: its number is no length of time.
func (x *SetCounters) Size() *Size { return nil }

// Live implements Fault.
func (x *SetCounters) Live(Deployment) Live { return Live{Not: notByHand} }

const notByHand = "nobody changes keys by hand on the servers of tier live"
