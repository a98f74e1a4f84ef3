package faults

import (
	"slices"
	"strings"

	"redlocksim/sim"
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

// Check implements Fault.
func (p *Promote) Check(n Names) []Problem {
	problems := among("node", p.Node, n.Nodes, "node")
	if problems == nil {
		problems = among("replica", p.Replica, n.Replicas[p.Node], "replica of "+p.Node)
	}
	return append(problems, (&Links{Clients: p.Clients}).check(Names{Clients: n.Clients})...)
}

// Apply implements Fault. A replica that does not know all that its master knew is a node that lost memory, from when
// the master stopped, or at once if it has not.
func (p *Promote) Apply(f *Field) error {
	w := f.World
	from, to := w.Server(p.Node), w.Server(p.Replica)
	clients, who := w.Clients, "all clients talk"
	if len(p.Clients) > 0 {
		clients, who = nil, strings.Join(p.Clients, ", ")+" talk"
		if len(p.Clients) == 1 {
			who += "s"
		}
		for _, name := range p.Clients {
			clients = append(clients, w.Client(name))
		}
	}
	missing := to.Missing(from)
	if err := w.Promote(from, to, clients); err != nil {
		return err
	}
	f.replaced[p.Node] = true
	with := "all that " + p.Node + " knew"
	if len(missing) > 0 {
		with = "less than " + p.Node + " knew"
		amnesia := Amnesia{Node: p.Node, Counters: lost(missing, to.Dump()).counters}
		if !from.Up() {
			amnesia.After = w.Kernel.Now().Sub(f.down[p.Node].at)
		}
		f.Spent.Restarts = append(f.Spent.Restarts, amnesia)
	}
	f.note("promote", "", p.Replica, 0, "%s, the replica of %s, is promoted with %s; %s to it now", p.Replica, p.Node, with, who)
	return nil
}

// group is a node and its replicas, by the name of one of them; nil if it has none.
func (n Names) group(member string) []string {
	for node, replicas := range n.Replicas { // a name is in one group at most
		if node == member || slices.Contains(replicas, member) {
			return append([]string{node}, replicas...)
		}
	}
	return nil
}

// everyNode is all nodes of a world, replicas too.
func everyNode(w *sim.World) []string {
	var names []string
	for _, s := range append(w.Servers[:len(w.Servers):len(w.Servers)], w.Replicas...) {
		names = append(names, s.Name())
	}
	return names
}
