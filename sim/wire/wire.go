// Package wire is the tier on which the shipped go-redis adapter and its scripts run as they are: they talk RESP over a
// simulated net.Conn to one miniredis for each node, without sockets.
//
// For the same configuration and seed a run here has the history of a run on [redlocksim/sim/model], byte for byte, and all
// that passes between libraries and nodes is the same too (see scenarios.Options.Overheard). Every message is one
// [network.Exchange] that opens with the same key at the same true time there, and its reply reaches the library at the same
// place among all others. What the library hands a node in one piece is one message. Setting up a connection costs nothing and
// cannot fail: a node that is down refuses the first request instead.
package wire

import (
	"fmt"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// New returns the tier, for one run.
func New() redis.Tier {
	return &backend{memories: map[*redis.Server]*memory{}, clients: clients{intents: intents{}}}
}

type backend struct {
	memories map[*redis.Server]*memory
	ordered  []*memory
	clients  clients
}

func (b *backend) Memory(s *redis.Server) redis.Memory {
	m := newMemory(s)
	b.memories[s] = m
	b.ordered = append(b.ordered, m)
	return m
}

func (b *backend) Nodes(client *kernel.Process, servers []*redis.Server, links []*network.Link) []driver.Node {
	nodes := make([]driver.Node, len(servers))
	for i, s := range servers {
		made, err := goredis.NewNode(b.clients.client(client, links[i], true), goredis.Name(s.Name()), goredis.Runtime(client.Runtime()))
		if err != nil {
			panic(fmt.Sprintf("wire: %v", err))
		}
		nodes[i] = &node{Node: made, client: client, server: s, link: links[i]}
	}
	return nodes
}

func (b *backend) Execute(s *redis.Server, x *network.Exchange) {
	x.Client().(*request).execute(b.memories[s])
}

func (b *backend) Close() error {
	err := b.clients.close()
	for _, m := range b.ordered {
		m.close()
	}
	return err
}

// node is the shipped adapter, whose messages say on the network what they are for: what their first command is.
type node struct {
	*goredis.Node
	client *kernel.Process
	server *redis.Server
	link   *network.Link
}

// Listen implements driver.Listener. Subscriptions work above the clients here: go-redis has a subscriber wait for the network
// outside of the kernel.
func (n *node) Listen(channel string, heard func(message string)) (stop func()) {
	return n.server.Listen(n.link, channel, heard)
}

// Do implements driver.Node.
func (n *node) Do(batch []*driver.Command) {
	n.client.WithBaggage(redis.CommandKey(batch[0]), func() { n.Node.Do(batch) })
}
