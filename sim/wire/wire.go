// Package wire is the tier that proves that what is simulated is what is shipped: the go-redis adapter and its scripts
// talk RESP over a simulated net.Conn to one miniredis for each node, without sockets.
//
// For the same configuration and seed a run here has the history of a run on [redlocksim/sim/model], byte for byte.
// Every message is one [sim.Exchange] that opens with the same key at the same true time there, and its reply reaches
// the library at the same place among all others. What the library hands a node in one piece is one message. Setting up a connection costs nothing and cannot fail: a node that is
// down refuses the first request instead.
package wire

import (
	"context"
	"fmt"
	"net"

	"github.com/redis/go-redis/v9"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
	"redlocksim/sim"
)

// New returns the backend of the wire tier, for one World.
func New() sim.Backend { return &backend{memories: map[*sim.Server]*memory{}} }

type backend struct {
	memories map[*sim.Server]*memory
	ordered  []*memory
	clients  []*redis.Client
}

func (b *backend) Memory(s *sim.Server) sim.Memory {
	m := newMemory(s)
	b.memories[s] = m
	b.ordered = append(b.ordered, m)
	return m
}

// options of a go-redis client whose connections are simulated.
//
// The pool must never be exhausted: a task that waits for a turn stops the kernel in real time. Crashed clients keep
// their turns. Buffers need not be larger than what a lock sends, and go-redis makes two for each connection.
func options(dial func() net.Conn) *redis.Options {
	return &redis.Options{
		Addr:             "127.0.0.1:6379", // a literal, so that nobody asks the DNS; the dialer does not look at it
		Dialer:           func(context.Context, string, string) (net.Conn, error) { return dial(), nil },
		PoolSize:         256,
		PipelinePoolSize: -1,
		ReadBufferSize:   1024,
		WriteBufferSize:  1024,
		ConnMaxIdleTime:  -1,
		ConnMaxLifetime:  -1,
	}
}

func (b *backend) Node(client *sim.Process, s *sim.Server, l *sim.Link) driver.Node {
	c := b.newClient(client, l)
	adapter, err := goredis.NewNode(c, goredis.Name(s.Name()), goredis.Runtime(client.Runtime()))
	if err != nil {
		panic(fmt.Sprintf("wire: %v", err))
	}
	return &node{Node: adapter, client: client, server: s, link: l}
}

func (b *backend) newClient(client *sim.Process, l *sim.Link) *redis.Client {
	c := goredis.NewClient(options(func() net.Conn { return &conn{client: client, link: l} }))
	b.clients = append(b.clients, c)
	return c
}

func (b *backend) Serve(s *sim.Server, x *sim.Exchange) {
	e := x.Client().(*exchange)
	for _, args := range e.requests[:x.Arriving(len(e.requests))] {
		e.replies = append(e.replies, b.memories[s].do(args))
	}
	x.Reply()
}

func (b *backend) Close() {
	for _, c := range b.clients {
		_ = c.Close() // its connections do not fail to close
	}
	for _, m := range b.ordered {
		m.close()
	}
}

// node is the shipped adapter, whose messages say on the network what they are for: what their first command is.
type node struct {
	*goredis.Node
	client *sim.Process
	server *sim.Server
	link   *sim.Link
}

// Listen implements driver.Listener. Subscriptions work above the clients here: go-redis has a subscriber wait for the
// network outside of the kernel.
func (n *node) Listen(channel string, heard func()) (stop func()) {
	return n.server.Listen(n.link, channel, heard)
}

// Do implements driver.Node.
func (n *node) Do(batch []*driver.Command) {
	n.client.Requesting(sim.CommandKey(batch[0]), func() { n.Node.Do(batch) })
}
