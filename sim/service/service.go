// Package service is what programs need that run on nodes in the place of Redis: requests of clients that are answered later,
// and messages from node to node.
package service

import (
	"context"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// Call is a request to a service, under way.
type Call[A any] struct {
	network.RoundTrip
	handle func(*Call[A])
	answer A
	err    error
}

// Ask sends a request over the link and waits for the answer, at most until the client's clock reads deadline. When
// the request arrives, handle is given the call on the server, and answers it then or later. key says what the request
// is for; no other of the run may share it. The error is ErrTimeout or ErrReset.
func Ask[A any](l *network.Link, key kernel.Key, deadline time.Time, handle func(*Call[A])) (A, error) {
	c := &Call[A]{handle: handle}
	if !c.Await(context.Background(), l, key, deadline, c) {
		return *new(A), rediscmd.ErrTimeout
	}
	return c.answer, c.err
}

// Answer sends the answer.
func (c *Call[A]) Answer(a A) {
	c.answer = a
	c.Reply()
}

// Arrive implements redis.Arriver.
func (c *Call[A]) Arrive() { c.handle(c) }

// Broken implements network.Client.
func (c *Call[A]) Broken() {
	c.answer, c.err = *new(A), rediscmd.ErrReset
	c.Answered()
}

// Peer is the way from one node to another, for services that run on several.
type Peer struct {
	link *network.Link
	sent uint64
}

// Connect makes a way from one node to another. Its link is found by the names of the two.
func Connect(d *redis.Deployment, from, to *redis.Server) *Peer {
	return &Peer{link: d.ConnectNodes(from, to, func(x *network.Exchange) { x.Client().(*network.Notice).Arrive() })}
}

// Send calls arrive when a message sent now arrives, on the node at the other end. Messages can be lost and overtake each
// other.
func (p *Peer) Send(arrive func()) {
	p.sent++
	n := &network.Notice{Arrived: arrive}
	p.link.Open(&n.Exchange, p.link.Draw(p.sent), n)
	n.Abandon()
}
