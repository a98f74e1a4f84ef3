// Package service is what programs need that run on nodes in the place of Redis: requests of clients that are answered later,
// and messages from node to node.
package service

import (
	"context"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// Call is a request to a service, under way.
type Call[A any] struct {
	network.Exchange
	handle func(*Call[A])
	answer A
	err    error
	done   bool
	waiter driver.Waiter
}

// Ask sends a request over the link and waits for the answer, at most until the client's clock reads deadline. When
// the request arrives, handle is given the call on the server, and answers it then or later. key says what the request
// is for; no other of the run may share it. The error is ErrTimeout or ErrReset.
func Ask[A any](l *network.Link, key kernel.Key, deadline time.Time, handle func(*Call[A])) (A, error) {
	clock := l.Client().ProgramClock()
	c := &Call[A]{handle: handle, waiter: l.Client().Tasks().NewWaiter()}
	l.Open(&c.Exchange, key, c)
	late := false
	timer := clock.AfterFunc(deadline.Sub(clock.Now()), func() { late = true; c.waiter.Wake() })
	defer timer.Stop()
	for !c.done && !late {
		c.waiter.Wait(context.Background())
	}
	if !c.done {
		c.Abandon()
		return *new(A), rediscmd.ErrTimeout
	}
	return c.answer, c.err
}

// Answer sends the answer.
func (c *Call[A]) Answer(a A) {
	c.answer = a
	c.Reply()
}

// Serve implements redis.Serving.
func (c *Call[A]) Serve() { c.handle(c) }

// Answered implements network.Client.
func (c *Call[A]) Answered() {
	c.done = true
	c.waiter.Wake()
}

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
	return &Peer{link: d.ConnectNodes(from, to, func(x *network.Exchange) { x.Client().(*note).arrive() })}
}

// note is a message between nodes.
type note struct {
	network.Exchange
	arrive func()
}

func (n *note) Answered() {}
func (n *note) Broken()   {}

// Send calls arrive when a message sent now arrives, on the node at the other end. Messages can be lost and overtake each
// other.
func (p *Peer) Send(arrive func()) {
	p.sent++
	n := &note{arrive: arrive}
	p.link.Open(&n.Exchange, p.link.Draw(p.sent), n)
	n.Abandon()
}
