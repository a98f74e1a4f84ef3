//go:build linux

package testbed

import (
	"fmt"

	"redlocksim/faults"
	"redlocksim/internal/redisproc"
	"redlocksim/live/internal/messages"
	"redlocksim/live/internal/server"
)

// Promote implements faults.Servers. From now on clients reach the replica where they reached the node. The other replicas
// follow it, except those that a partition separates from it. A master that is up remains one until its next start.
func (g ground) Promote(node, replica string, clients []string) (faults.Forgotten, error) {
	from, to := g.ServerNamed(node), g.ServerNamed(replica)
	switch {
	case !to.IsUp():
		return faults.Forgotten{}, fmt.Errorf("live: promote: %s is down", to.Name)
	case to.Paused:
		return faults.Forgotten{}, fmt.Errorf("live: promote: %s is paused, and takes no orders", to.Name)
	case to.Follows == "":
		return faults.Forgotten{}, fmt.Errorf("live: promote: %s is a master already", to.Name)
	}
	lacks, err := g.lacks(to, from)
	if err == nil {
		_, err = redisproc.Ask(to.Addr, "REPLICAOF", "NO", "ONE")
	}
	if err != nil {
		return faults.Forgotten{}, g.failing(err)
	}
	to.Follows = ""
	for _, name := range g.groupOf(to.Name).members() {
		s, link := g.ServerNamed(name), g.LinkOf(name, to.Name)
		switch {
		case s == to:
		case s.Follows == "":
			s.Successor = link.Addr
		case link.Reaches():
			s.Follows = link.Addr
			if s.IsUp() && !s.Paused {
				_ = g.failing(s.Follow()) // the others still follow it
			}
		}
	}
	for _, name := range clients {
		g.LinkOf(name, node).Lead(g.LinkOf(name, replica))
		c, o := g.ClientNamed(name), messages.Order{Serving: &messages.Serving{Node: node, By: replica}}
		c.told = append(c.told, o)
		if c.IsUp() {
			c.Send(o)
		}
	}
	return lacks, nil
}

// lacks is what the master knows, or knew when it stopped, and a replica does not.
func (g ground) lacks(replica, master *server.Server) (faults.Forgotten, error) {
	has, err := replica.Dump()
	if err != nil {
		return faults.Forgotten{}, err
	}
	known := master.Knew
	if master.IsUp() && !master.Paused {
		if known, err = master.Dump(); err != nil {
			return faults.Forgotten{}, err
		}
	}
	return faults.Forget(known, has, master.Wall()), nil
}
