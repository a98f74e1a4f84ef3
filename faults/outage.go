package faults

import "time"

// Outage is what the faults that stop a Redis node share.
type Outage struct {
	// Node is the node. Example: C
	Node string `yaml:"node,required"`
	// RestartAfter is how long after it stopped the node starts again, in true time; 0s restarts it at once. Default: stays
	// down until a restart. Example: 1s
	RestartAfter *time.Duration `yaml:"restart-after"`
	// ByWallClock measures that time with the node's wall clock instead, which may be stepped meanwhile. Default: false.
	// Example: true
	ByWallClock bool `yaml:"by-wall-clock"`
}

// memoryLoss are the keys of the budget from which a node that comes back without its memory takes.
var memoryLoss = []string{"restart-delay", "memory-loss", "counter-loss"}

func (o *Outage) check(n Names) []Problem {
	problems := among("node", o.Node, n.Nodes, "node")
	if o.RestartAfter != nil {
		problems = append(problems, notNegative("restart-after", *o.RestartAfter)...)
	}
	return problems
}

// Target is the node.
func (o *Outage) Target() string { return o.Node }

// Down is the outage of a fault that stops a node.
func (o *Outage) Down() *Outage { return o }

// delay is that of the restart; zero if the node stays down.
func (o *Outage) delay() time.Duration {
	if o.RestartAfter == nil {
		return 0
	}
	return *o.RestartAfter
}

// size is that of a fault with this outage, which with makes of another one.
func (o *Outage) size(with func(Outage) Fault) *Size {
	return &Size{Value: o.delay(), Knob: "the delay of the restart", Shrinks: true, With: func(d time.Duration) Fault {
		other := *o
		other.RestartAfter = &d
		return with(other)
	}}
}
