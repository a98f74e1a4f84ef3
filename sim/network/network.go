// Package network is the links between processes, and the messages on them: how long they take, what is lost, kept back or
// torn, and what connections that break mean for those who wait.
//
// A message is an event of the kernel. Start with [Network.Connect] and [Link.Open].
package network

import (
	"redlocksim/sim/kernel"
	"redlocksim/sim/trace"
)

// Network is the links between all processes that talk to each other.
type Network struct {
	k     *kernel.Kernel
	links []*Link
	sent  *trace.Kind[Sent]
	ended *trace.Kind[Ended]
	met   bool
}

// New makes a network without links.
func New(k *kernel.Kernel) *Network {
	return &Network{k: k, sent: trace.Of[Sent](k.Events), ended: trace.Of[Ended](k.Events)}
}

// Met says whether a message was lost to a cut, kept back, slowed or torn until now, or a connection was reset.
func (n *Network) Met() bool { return n.met }

// Connect makes a link. listener is called for every request that arrives at the server, and presence says how the
// server's machine meets it.
func (n *Network) Connect(client, server *kernel.Process, latency Latency, listener func(*Exchange),
	presence func() Presence) *Link {
	l := &Link{network: n, number: len(n.links), client: client, server: server, listener: listener, presence: presence,
		lanes: [2]way{{latency: latency}, {latency: latency}},
		draw:  n.k.Draw("latency").WithString(client.Name()).WithString(server.Name())}
	n.links = append(n.links, l)
	return l
}

// Restarted gives the client's end of its links to a process that was started again after a crash. What the crashed one has
// sent is still under way.
func (n *Network) Restarted(client *kernel.Process) {
	for _, l := range n.links {
		if l.client.Name() == client.Name() {
			l.client = client
		}
	}
}

// Link is the link between a client and a server, nil if they do not talk.
func (n *Network) Link(client, server string) *Link {
	for _, l := range n.links {
		if l.client.Name() == client && l.server.Name() == server {
			return l
		}
	}
	return nil
}

// Each calls f for all links, in the order in which they were made.
func (n *Network) Each(f func(*Link)) {
	for _, l := range n.links {
		f(l)
	}
}
