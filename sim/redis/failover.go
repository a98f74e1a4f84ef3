package redis

import (
	"fmt"

	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// reaches says whether no partition keeps a master from its replica.
func (f *feed) reaches() bool {
	there, _, _ := f.link.Obstacles(network.Requests)
	back, _, _ := f.link.Obstacles(network.Replies)
	return !there && !back
}

// Promote makes a replica a master. The other replicas of its group follow it, but for those that a partition keeps from
// it; a node that is a master goes on being one, and follows it only after its next restart. What the clients address to node
// goes to it from now on.
func (d *Deployment) Promote(node, replica *Server, clients []*kernel.Process) error {
	r := &replica.replication
	switch {
	case !replica.Up():
		return fmt.Errorf("sim: promote: node %s is down", replica.Name())
	case r.master == nil:
		return fmt.Errorf("sim: promote: node %s is a master already", replica.Name())
	}
	r.master, r.neverMaster = nil, false
	for _, f := range r.feeds {
		if other := &f.replica.replication; other.master == nil {
			other.successor = replica
		}
	}
	replica.announce(replica.memory.Dump())
	for _, f := range r.feeds {
		if f.replica.replication.master != nil && f.reaches() {
			f.replica.follow(replica)
		}
	}
	for _, c := range clients {
		d.network.Link(c.Name(), node.Name()).Redirect(d.network.Link(c.Name(), replica.Name()))
	}
	replica.isOther()
	return nil
}

// Serving is the node that a client's requests to node go to: after a failover, another.
func (d *Deployment) Serving(client *kernel.Process, node string) string {
	return d.network.Link(client.Name(), node).Serving().Name()
}
