package sim

import (
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
)

// Service is a program that runs on the machine of a node in the place of Redis, for lock protocols of other systems. It
// is part of the world and not of a tier: it runs the same on all of them.
type Service interface {
	// Stopped is called when the node's process ends, Started when it starts again. What the service keeps between the
	// two is what it had on its disk.
	Stopped()
	Started()
}

// Host has the node run the service from now on. Requests reach it through Ask.
func (s *Server) Host(service Service) { s.services = append(s.services, service) }

// serve has a request that has arrived at a node carried out.
func (w *World) serve(s *Server, x *Exchange) {
	switch end := x.end.(type) {
	case served:
		end.serve()
	case *Subscription:
		s.subscribers = append(s.subscribers, end)
		s.push(end, &push{subscription: end, confirms: true})
	case *leave:
		for i, other := range s.subscribers {
			if other == end.subscription {
				s.subscribers = append(s.subscribers[:i:i], s.subscribers[i+1:]...)
				break
			}
		}
		x.Reply()
	default:
		if len(s.replication.feeds) == 0 {
			w.backend.Serve(s, x)
		} else if !s.answers(x) {
			w.backend.Serve(s, x)
			s.changed()
		}
	}
	if w.Kernel.recorder != nil {
		w.Kernel.recorder.lookAtKeys(s, x.link.client.name)
	}
}

// served is the client's end of an exchange whose request knows who serves it.
type served interface{ serve() }

// Call is a request to a service, under way.
type Call[A any] struct {
	Exchange
	handle func(*Call[A])
	answer A
	err    error
	done   bool
	waiter driver.Waiter
}

// Ask sends a request over the link and waits for the answer, at most until the client's lock clock reads deadline. When
// the request arrives, handle is given the call on the server, and answers it then or later. key says what the request
// is for; no other of the run may share it. The error is ErrTimeout or ErrReset.
func Ask[A any](l *Link, key Key, deadline time.Time, handle func(*Call[A])) (A, error) {
	clock := l.client.LockClock()
	c := &Call[A]{handle: handle, waiter: l.client.Tasks().NewWaiter()}
	l.Open(&c.Exchange, key, c)
	late := false
	timer := clock.AfterFunc(deadline.Sub(clock.Now()), func() { late = true; c.waiter.Wake() })
	defer timer.Stop()
	for !c.done && !late {
		c.waiter.Wait(background)
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

func (c *Call[A]) serve() { c.handle(c) }

// Answered implements Client.
func (c *Call[A]) Answered() {
	c.done = true
	c.waiter.Wake()
}

// Broken implements Client.
func (c *Call[A]) Broken() {
	c.answer, c.err = *new(A), rediscmd.ErrReset
	c.Answered()
}

// Peer is the way from one node to another, for services that run on several.
type Peer struct {
	link *Link
	sent uint64
}

// Connect makes a way from one node to another, with the latency of the world. Links are found by the names of the two.
func (w *World) Connect(from, to *Server) *Peer {
	l := w.Network.connect(from.Process, to.Process, w.latency, func(x *Exchange) { x.end.(*note).arrive() }, func() presence { return to.state })
	to.links = append(to.links, l)
	return &Peer{link: l}
}

// note is a message between nodes.
type note struct {
	Exchange
	arrive func()
}

func (n *note) Answered() {}
func (n *note) Broken()   {}

// Send calls arrive when a message sent now arrives, on the node at the other end. Messages can be lost and overtake each
// other.
func (p *Peer) Send(arrive func()) {
	p.sent++
	n := &note{arrive: arrive}
	p.link.Open(&n.Exchange, p.link.draw.With(p.sent), n)
	n.Abandon()
}

// Shared is what all clients of a protocol share in this world, made when the first of them asks.
func Shared[T any](w *World, name string, make func() T) T {
	v, ok := w.shared[name]
	if !ok {
		v = make()
		w.shared[name] = v
	}
	return v.(T)
}
