package faults

import (
	"fmt"
	"slices"
	"time"
)

// Failover is what Sentinel or an operator does when a node dies: its process is killed, and after a time a replica takes its
// place for all clients. A node that starts again follows that replica.
type Failover struct {
	// Node is the master that dies. Example: A
	Node string `yaml:"node,required"`
	// Replica is the replica that replaces it. Example: A2
	Replica string `yaml:"replica,required"`
	// After is how long the node is down before it is replaced. Default: 0s. Example: 2s
	After time.Duration `yaml:"after"`
	// RestartAfter is how long after it died the node starts again, which must be after it was replaced. Default: stays down.
	// Example: 5s
	RestartAfter *time.Duration `yaml:"restart-after"`
}

var failover = Kind{
	Name: "failover", New: func() Fault { return new(Failover) },
	Target: OneNode, Takes: memoryLoss,
	Applies: func(l *Limits) bool { return len(l.masters()) > 0 },
	Draw: func(c Choices, l *Limits) Fault {
		least, comesBack := l.Budget.Away(l.Fenced)
		if l.Beyond {
			least = 0
		} else if !comesBack {
			return nil
		}
		f := &Failover{Node: OneOf(c.For("node", 0), l.masters()...)}
		f.Replica = OneOf(c.For("replica", 0), l.Names.Replicas[f.Node]...)
		f.After = l.Times.Length(c.For("after", 0), least, least+l.Scale)
		if c.For("for good", 0).Below(2) == 0 {
			again := f.After + l.Times.Length(c.For("restart", 0), minOutage, l.Scale)
			f.RestartAfter = &again
		}
		return f
	},
	Place: func(l *Limits) (all []Fault) {
		var after []time.Duration
		if least, comesBack := l.Budget.Away(l.Fenced); comesBack {
			after = append(after, least)
		}
		if l.Beyond && !slices.Contains(after, 0) {
			after = append(after, 0)
		}
		for _, n := range l.masters() {
			for _, d := range after {
				all = append(all, forEach(l.Names.Replicas[n], func(r string) Fault { return &Failover{Node: n, Replica: r, After: d} })...)
			}
		}
		return all
	},
	Tight: tightRestart,
}

func (x *Failover) String() string {
	return fmt.Sprintf("%s dies, and %s, its replica, takes over after %v", x.Node, x.Replica, x.After)
}

// Check implements Fault.
func (x *Failover) Check(n Names) []Problem {
	problems := (&Promote{Node: x.Node, Replica: x.Replica}).Check(n)
	problems = append(problems, notNegative("after", x.After)...)
	if x.RestartAfter != nil && *x.RestartAfter <= x.After {
		problems = append(problems, Problem{Field: "restart-after", Text: "must be longer than after: until then nobody has taken over"})
	}
	return problems
}

// Inject implements Fault. A replica that cannot take over when the time has come, as it is down, never does, nor once the
// faults are healed.
func (x *Failover) Inject(f *Field) error {
	if err := f.stop("failover", x.After, &Outage{Node: x.Node, RestartAfter: x.RestartAfter}, Killed, x.String()); err != nil {
		return err
	}
	f.ground.After(x.After, func() {
		err := errHealed
		if !f.isHealed {
			err = (&Promote{Node: x.Node, Replica: x.Replica}).Inject(f)
		}
		if err != nil {
			f.Undone = append(f.Undone, fmt.Sprintf("%s does not take over from %s: %v", x.Replica, x.Node, err))
		}
	})
	return nil
}

// Simpler implements Simplified: the node dies, which is all that comes of it if the replica is down.
func (x *Failover) Simpler() (Fault, string) {
	return &Kill{Outage{Node: x.Node, RestartAfter: x.RestartAfter}}, kill.Name
}

// Target implements Fault.
func (x *Failover) Target() string { return x.Node }

// Size implements Fault.
func (x *Failover) Size() *Size {
	return &Size{Value: x.After, Knob: "the delay of the failover", Shrinks: true, With: func(d time.Duration) Fault {
		other := *x
		other.After = d
		if x.RestartAfter != nil {
			again := *x.RestartAfter - x.After + d
			other.RestartAfter = &again
		}
		return &other
	}}
}

// Live implements Fault.
func (x *Failover) Live(Deployment) Live { return Live{} }
