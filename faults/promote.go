package faults

import (
	"strings"
)

// Promote makes a replica a master in place of its node, as Sentinel or an operator does. Clients that learn of it send the
// replica what they address to the node. The node is not told: if it is up, it goes on as a master for those who still ask
// it.
type Promote struct {
	// Node is the master that is replaced. Example: A
	Node string `yaml:"node,required"`
	// Replica is the replica that replaces it. Example: A2
	Replica string `yaml:"replica,required"`
	// Clients are the clients that learn of it. Default: all clients. Example: [client-2]
	Clients []string `yaml:"clients"`
}

var promote = Kind{
	Name: "promote", New: func() Fault { return new(Promote) },
	Target: OneNode, Takes: memoryLoss,
	Draw: func(c Choices, l *Limits) Fault {
		masters := l.masters()
		if !l.promotes() || masters == nil {
			return nil
		}
		p := &Promote{Node: OneOf(c.For("node", 0), masters...)}
		p.Replica = OneOf(c.For("replica", 0), l.Names.Replicas[p.Node]...)
		p.Clients = some(c.For("told", 0), l.Names.Clients)
		return p
	},
	Place: func(l *Limits) (all []Fault) {
		if !l.promotes() {
			return nil
		}
		for _, n := range l.masters() {
			all = append(all, forEach(l.Names.Replicas[n], func(r string) Fault { return &Promote{Node: n, Replica: r} })...)
		}
		return all
	},
}

func (p *Promote) String() string { return p.Replica + ", the replica of " + p.Node + ", is promoted" }

// Check implements Fault.
func (p *Promote) Check(n Names) []Problem {
	problems := among("node", p.Node, n.Nodes, "node")
	if problems == nil {
		problems = among("replica", p.Replica, n.Replicas[p.Node], "replica of "+p.Node)
	}
	return append(problems, (&Links{Clients: p.Clients}).check(Names{Clients: n.Clients})...)
}

// Inject implements Fault. A replica that does not know all that its master knew is a node that lost memory. So is one whose
// master is up, or may be asked by others once it is: what is asked of either the other never learns. A node that was replaced
// before is not the one that is followed now, and counts as up.
func (p *Promote) Inject(f *Field) error {
	clients, who := p.Clients, strings.Join(p.Clients, ", ")+" talk"
	switch len(clients) {
	case 0:
		clients, who = f.ground.Clients(), "all clients talk"
	case 1:
		who += "s"
	}
	lacks, err := f.ground.Promote(p.Node, p.Replica, clients)
	if err != nil {
		return err
	}
	forks := f.ground.Up(p.Node) || f.replaced[p.Node] || len(clients) < len(f.ground.Clients())
	f.replaced[p.Node] = true
	with := "all that " + p.Node + " knew"
	if lacks.Any {
		with = "less than " + p.Node + " knew"
	}
	if lacks.Any || forks {
		r := Replaced{Node: p.Node, Counters: lacks.Counters || forks && f.Fenced}
		if !forks {
			r.IsDead, r.After = true, f.ground.Now().Sub(f.outages[p.Node].at)
		}
		f.uses(f.ground.Now(), func(u *Used) { u.Replaced = append(u.Replaced, r) })
	}
	f.note("promote", "", p.Replica, 0, "%v with %s; %s to it now", p, with, who)
	return nil
}

// Target implements Fault.
func (p *Promote) Target() string { return p.Node }

// Size implements Fault: it has no number.
func (p *Promote) Size() *Size { return nil }

// Live implements Fault.
func (p *Promote) Live(Deployment) Live { return Live{} }
