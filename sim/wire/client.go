package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	sim "redlocksim/sim/redis"
)

// clients are what clients have opened in a run, and the connections that go-redis makes for them.
type clients struct {
	closers []func() error
	intents intents
	open    connections
}

// nodes makes the nodes of a client of the library over links in place of TCP, in both ways that programs have: of the second
// server by itself, and of the others by opening them.
func (c *clients) nodes(client *kernel.Process, servers []*sim.Server, links []*network.Link) []driver.Node {
	addresses := make(map[string]int, len(servers))
	for i := range servers {
		addresses[address(i)] = i
	}
	options := func(o *redis.Options) {
		small(o)
		o.Dialer = func(_ context.Context, network, to string) (net.Conn, error) {
			i, is := addresses[to]
			if !is || network != "tcp" {
				return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("no server has the address %s", to)}
			}
			return c.connect(client, links[i], true), nil
		}
	}
	var spelled []string
	var made goredis.Nodes
	names := make(map[string]int, len(servers))
	for i, s := range servers {
		if i != byItself {
			spelled, names[address(i)] = append(spelled, spelling(i)), i
			continue
		}
		n, err := c.node(address(i), options, goredis.Name(s.Name()), goredis.Runtime(client.Runtime()))
		if err != nil {
			panic(fmt.Sprintf("wire: %v", err))
		}
		made, names[s.Name()] = append(made, n), i
	}
	opened, err := goredis.Opener{Runtime: client.Runtime(), Options: options}.Open(spelled...)
	if err != nil {
		panic(fmt.Sprintf("wire: %v", err))
	}
	c.closers = append(c.closers, opened.Close)
	if made = append(made, opened...); len(made) != len(servers) {
		panic(fmt.Sprintf("wire: %d servers are opened as %d nodes", len(servers), len(made)))
	}
	nodes := make([]driver.Node, len(servers))
	for _, n := range made {
		i, is := names[n.Name()]
		if !is || nodes[i] != nil {
			panic(fmt.Sprintf("wire: %s is no name of a node, or of two", n.Name()))
		}
		nodes[i] = &node{Node: n.(*goredis.Node), client: client, server: servers[i], link: links[i]}
	}
	return nodes
}

// byItself is the place of the server for which a client of the library makes its go-redis client itself.
const byItself = 1

// node makes a node of a go-redis client of its own.
func (c *clients) node(addr string, set func(*redis.Options), options ...goredis.Option) (*goredis.Node, error) {
	o := &redis.Options{Addr: addr}
	set(o)
	own := goredis.NewClient(o)
	c.closers = append(c.closers, own.Close)
	return goredis.NewNode(own, options...)
}

// plain makes the go-redis client of a process that speaks to one server without the library.
func (c *clients) plain(client *kernel.Process, l *network.Link) *redis.Client {
	o := &redis.Options{Addr: address(0), // a literal, so that nobody asks the DNS; the dialer does not look at it
		Dialer: func(context.Context, string, string) (net.Conn, error) { return c.connect(client, l, false), nil }}
	small(o)
	made := goredis.NewClient(o)
	c.closers = append(c.closers, made.Close)
	return made
}

// small sets what a simulated client needs of go-redis, which is less than it takes by default.
//
// The pool must never be exhausted: a task that waits for a turn stops the kernel in real time. Crashed clients keep their
// turns. Buffers need not be larger than what a lock sends, and go-redis makes two for each connection.
func small(o *redis.Options) {
	o.PoolSize = 256
	o.ReadBufferSize, o.WriteBufferSize = 1024, 1024
	o.ConnMaxIdleTime, o.ConnMaxLifetime = -1, -1
}

// close closes what was opened, which must leave no connection behind.
func (c *clients) close() error {
	var errs []error
	for _, end := range c.closers {
		errs = append(errs, end())
	}
	if n := c.open.count(); n > 0 {
		errs = append(errs, fmt.Errorf("wire: the clients are closed, and %d of their connections are not", n))
	}
	return errors.Join(errs...)
}

// address is what a dialer is given for the server with that index.
func address(i int) string {
	if i%len(spellings) < 3 {
		return fmt.Sprintf("10.0.0.%d:6379", i+1)
	}
	return fmt.Sprintf("[fd00::%x]:6379", i+1)
}

// spellings are those that goredis.Open takes for an address.
var spellings = [...]func(host, address string) string{
	func(host, _ string) string { return host },
	func(_, address string) string { return address },
	func(host, _ string) string { return "redis://locks:secret@" + host + "/0" },
	func(host, _ string) string { return strings.Trim(host, "[]") },
	func(host, _ string) string { return host },
	func(_, address string) string { return "redis://" + address },
}

// spelling is one of the ways to write the address of the server with that index.
func spelling(i int) string {
	to := address(i)
	return spellings[i%len(spellings)](strings.TrimSuffix(to, ":6379"), to)
}
