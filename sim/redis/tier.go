package redis

import (
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// Tier is how nodes are simulated, and how clients talk to them.
type Tier interface {
	// Memory makes the memory of a node. It is called once for every node, before all else.
	Memory(s *Server) Memory
	// Nodes makes the library's view of nodes for one client, in their order. A link leads to each.
	Nodes(client *kernel.Process, servers []*Server, links []*network.Link) []driver.Node
	// Conn makes a client's plain connection to a node, over the same link.
	Conn(client *kernel.Process, s *Server, l *network.Link) Conn
	// Execute has the node carry out a Request that has arrived, and answer it.
	Execute(s *Server, x *network.Exchange)
	// Close frees what the tier holds, after the run. The error says that something could not be freed.
	Close() error
}

// Conn is a client's plain connection to a node, for lock protocols that are not the library. Do is called by a program
// of the client, which waits.
type Conn interface {
	// Node is the node's name.
	Node() string
	// Do sends a request and waits for the reply, at most until the client's clock reads deadline. key says what the request
	// is for; no other of the run may share it.
	Do(key kernel.Key, deadline time.Time, r rediscmd.Request) rediscmd.Reply
}

// CommandKey is what the request for a command of the library is for: the acquisition and attempt, through the value
// that is drawn for them, the kind and the round.
func CommandKey(c *driver.Command) kernel.Key {
	return kernel.Key(0).WithString(c.Value).With(uint64(c.Op)).With(uint64(c.Round))
}
