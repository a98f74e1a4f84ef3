package goredis

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/resp"
	"redlocksim/redlock/driver"
)

// ask sends a command to where its key is or would be while its slot is migrated, as the primary said that has the slot, or
// passes that on if there is no time left. It is sent there once.
func (n *cluster) ask(c *driver.Command, refused driver.Reply, by *Node, addr string) {
	if c.IsMoot() || !n.self.clock.Now().Before(c.Deadline) {
		c.Done(c, refused)
		return
	}
	to, end, err := n.importing(addr, by)
	if err != nil {
		c.Done(c, driver.Reply{Outcome: driver.Failed, Err: err})
		return
	}
	copied := *c
	copied.Done = func(_ *driver.Command, reply driver.Reply) {
		end()
		c.Done(c, reply)
	}
	to.Do([]*driver.Command{&copied})
}

// importing is the node at an address for commands on slots that it does not have yet, and what ends its use. It may not be
// among those that the cluster's client knows: then it is one of its own.
func (n *cluster) importing(addr string, like *Node) (node *Node, end func(), err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for client, known := range n.primaries {
		if client.Options().Addr == addr {
			asking := *known
			asking.asks = true
			return &asking, func() {}, nil
		}
	}
	o := *like.client.Options()
	o.Addr = addr
	client := newClient(&o, resp.Keys)
	if node, err = n.newPrimary(client); err != nil {
		_ = client.Close()
		return nil, nil, err
	}
	node.asks = true
	return node, func() { _ = client.Close() }, nil
}

// newPrimary makes a node of a client for one server of the cluster.
func (n *cluster) newPrimary(client *redis.Client) (*Node, error) {
	node, err := newNode(client, append(slices.Clip(n.options), Name(n.self.name)))
	if err != nil {
		return nil, err
	}
	node.server.Part()
	node.server.ListensAs(&n.listening)
	return node, nil
}

// dropOthers forgets the nodes that are no primaries any more: go-redis closes their clients.
func (n *cluster) dropOthers() {
	ctx, cancel := n.self.clock.WithDeadline(context.Background(), n.self.clock.Now().Add(dialTimeout))
	defer cancel()
	var mu sync.Mutex
	current := map[*redis.Client]bool{}
	err := n.client.ForEachMaster(ctx, func(_ context.Context, client *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		current[client] = true
		return nil
	})
	if err != nil {
		return // the next that is new tries again
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	maps.DeleteFunc(n.primaries, func(client *redis.Client, _ *Node) bool { return !current[client] })
}
