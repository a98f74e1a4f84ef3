package scenarios

import (
	"slices"

	"redlocksim/faults"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
)

// all is the nodes' names and those of their replicas.
func (n Nodes) all() []string {
	all := slices.Clone(n.Names)
	for _, of := range n.Replicas {
		all = append(all, of.Value...)
	}
	return all
}

// replicas is the names of the replicas by their node's.
func (n Nodes) replicas() map[string][]string {
	if len(n.Replicas) == 0 {
		return nil
	}
	by := map[string][]string{}
	for _, of := range n.Replicas {
		by[of.Key] = of.Value
	}
	return by
}

// Processes are those that faults can be injected into.
func (s *Scenario) Processes() faults.Names {
	return faults.Names{Clients: s.Clients, Nodes: s.Nodes.all(), Replicas: s.Nodes.replicas(), Agree: s.Lock.Capabilities().Agree}
}

// replicas looks at the nodes that have replicas.
func (c *check) replicas() {
	s := c.s
	n := child(child(c.n, "nodes"), "replicas")
	taken := slices.Concat(s.Nodes.Names, s.Clients)
	for _, of := range s.Nodes.Replicas {
		if !slices.Contains(s.Nodes.Names, of.Key) {
			c.d.Errorf(n, of.Key, s.Nodes.Names, "there is no such node")
		}
		c.names(child(n, of.Key), of.Value, redlock.MaxNodes, "replica")
		for _, name := range of.Value {
			if slices.Contains(taken, name) {
				c.d.Errorf(child(n, of.Key), name, nil, "is the name of another process")
			}
		}
		taken = append(taken, of.Value...)
	}
	if w := protocols.Of[protocols.FailoverSettings](s.Lock).Wait; len(s.Nodes.Names) > 0 && w.Replicas > len(s.Nodes.replicas()[s.Nodes.Names[0]]) {
		c.d.Errorf(child(child(c.n, "lock"), "wait"), "replicas", nil, "%d is more than node %s has", w.Replicas, s.Nodes.Names[0])
	}
}
