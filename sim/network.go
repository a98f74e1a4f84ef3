package sim

import (
	"slices"
	"time"
)

// Network is the links between all processes that talk to each other.
type Network struct {
	k     *Kernel
	links []*Link
}

// Link connects a client to a server (a Redis node or the storage). Every exchange on it, a request and its reply, is a
// connection's of its own while it lasts, as in a connection pool: exchanges under way at the same time overtake each
// other as their delays have it, and one that the client has given up may still arrive after a later one.
type Link struct {
	network  *Network
	client   *Process
	server   *Process
	request  way
	reply    way
	epoch    int       // counts the resets; an exchange belongs to the epoch it began in
	open     *Exchange // the exchanges whose client waits, latest first
	draw     Key
	listener func(*Exchange) // the server's end
	down     func() presence // whether anything listens
	leads    *Link           // where requests go instead, after a failover
	listened uint64          // how many subscriptions of Listen there were
}

// way is one direction of a link.
type way struct {
	latency Latency
	delays  time.Duration // added by faults
	cuts    int           // partitions in force
	holds   int
	splits  []*torn // in force
	// heldSince is when the first of the holds began.
	heldSince True
	held      []delivery
}

// presence is how a server's machine meets a request.
type presence uint8

const (
	listening presence = iota
	refusing           // the machine is up, the process is not: it answers with a reset
	silent             // the machine is off
)

// Reset breaks every connection of the link: requests and replies under way are lost, and the client is told at once,
// as the next thing that happens.
func (l *Link) Reset() {
	l.epoch++
	k := l.network.k
	for x := l.lastOpen(); x != nil; x = x.prev {
		x.cut = true
		k.schedule(k.now, ordinary, l.client, x.label(partReset), delivery{x, partReset}, 0)
	}
}

// lastOpen is the open exchange that began first.
func (l *Link) lastOpen() *Exchange {
	x := l.open
	for x != nil && x.next != nil {
		x = x.next
	}
	return x
}

// serverDied tells the clients of a server whose process ended while its machine goes on: it resets its connections.
func (l *Link) serverDied() {
	l.epoch++
	for x := l.lastOpen(); x != nil; x = x.prev {
		x.send(partReset)
	}
}

// serverVanished forgets the connections of a server whose machine lost power: nobody tells the clients.
func (l *Link) serverVanished() { l.epoch++ }

// Direction says which messages of a link a fault touches.
type Direction uint8

// The directions; Both is the zero value.
const (
	Both Direction = iota
	Requests
	Replies
)

func (l *Link) ways(d Direction) []*way {
	switch d {
	case Requests:
		return []*way{&l.request}
	case Replies:
		return []*way{&l.reply}
	}
	return []*way{&l.request, &l.reply}
}

// SetLatency sets the distribution of delays from now on.
func (l *Link) SetLatency(d Direction, latency Latency) {
	for _, w := range l.ways(d) {
		w.latency = latency
	}
}

// Cut loses every message that is sent, or would arrive, until Mend. Cuts add up.
func (l *Link) Cut(d Direction) {
	for _, w := range l.ways(d) {
		w.cuts++
	}
	l.network.k.look()
}

// Mend takes one Cut back.
func (l *Link) Mend(d Direction) {
	for _, w := range l.ways(d) {
		w.cuts--
	}
	l.network.k.look()
}

// Delay adds to the delay of every message sent from now on; a negative duration takes it back. It returns the largest
// delay that is added now.
func (l *Link) Delay(d Direction, by time.Duration) time.Duration {
	var most time.Duration
	for _, w := range l.ways(d) {
		w.delays += by
		most = max(most, w.delays)
	}
	l.network.k.look()
	return most
}

// Hold keeps back what arrives until Release. Holds add up.
func (l *Link) Hold(d Direction) {
	for _, w := range l.ways(d) {
		if w.holds++; w.holds == 1 {
			w.heldSince = l.network.k.now
		}
	}
	l.network.k.look()
}

// Release delivers, in order and as the next things that happen, what was held back, once no Hold is left; what a cut is
// in the way of is lost. It returns for how long messages were held back.
func (l *Link) Release(d Direction) time.Duration {
	var longest time.Duration
	k := l.network.k
	for _, w := range l.ways(d) {
		longest = max(longest, k.now.Sub(w.heldSince))
		if w.holds--; w.holds > 0 {
			continue
		}
		held := w.held
		w.held = nil
		for _, h := range held {
			k.schedule(k.now, ordinary, nil, h.exchange.label(h.part), h.exchange, h.part)
		}
	}
	k.look()
	return longest
}

// Split has messages of several requests, sent from now on, arrive in part, until mend is called: their first keep
// requests, or the answers to these. The rest is lost; with reset the connection is reset behind what arrives, and
// otherwise the client waits for the rest. Of several splits the one that keeps least counts.
func (l *Link) Split(d Direction, keep int, reset bool) (mend func()) {
	s := &torn{keep: keep, reset: reset}
	for _, w := range l.ways(d) {
		w.splits = append(w.splits, s)
	}
	return func() {
		for _, w := range l.ways(d) {
			w.splits = slices.DeleteFunc(w.splits, func(o *torn) bool { return o == s })
			if len(w.splits) == 0 {
				w.splits = nil
			}
		}
	}
}

// connect makes a link.
func (n *Network) connect(client, server *Process, latency Latency, listener func(*Exchange), down func() presence) *Link {
	l := &Link{network: n, client: client, server: server, listener: listener, down: down,
		request: way{latency: latency}, reply: way{latency: latency},
		draw: n.k.Draw("latency").WithString(client.name).WithString(server.name)}
	n.links = append(n.links, l)
	return l
}

// Link is the link between a client and a server, nil if they do not talk.
func (n *Network) Link(client, server string) *Link {
	for _, l := range n.links {
		if l.client.name == client && l.server.name == server {
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

// Client and Server name the ends of the link.
func (l *Link) Client() *Process { return l.client }
func (l *Link) Server() *Process { return l.server }
