package network

import (
	"slices"
	"time"

	"redlocksim/sim/kernel"
)

// Link connects a client to a server (a Redis node or the storage). Every exchange on it, a request and its reply, is a
// connection's of its own while it lasts, as in a connection pool: exchanges under way at the same time overtake each
// other as their delays have it, and one that the client has given up may still arrive after a later one.
type Link struct {
	network  *Network
	number   int
	client   *kernel.Process
	server   *kernel.Process
	lanes    [2]way
	epoch    int         // counts the resets; an exchange belongs to the epoch it began in
	open     []*Exchange // the exchanges whose client waits, in the order in which they began
	draw     kernel.Key
	listener func(*Exchange) // the server's end
	presence func() Presence
	leads    *Link // where requests go instead
}

// Presence is how a server's machine meets a request.
type Presence uint8

const (
	// Listening: the process answers. The zero value.
	Listening Presence = iota
	// Refusing: the machine is up, the process is not, and connections are reset.
	Refusing
	// Silent: the machine is off.
	Silent
)

// Redirect has what is opened on the link from now on go over another: to whoever has taken the place of its server.
func (l *Link) Redirect(to *Link) { l.leads = to }

// LeadsTo is who is at the other end of what is opened on the link: after a Redirect, somebody else.
func (l *Link) LeadsTo() *kernel.Process {
	if l.leads != nil {
		return l.leads.server
	}
	return l.server
}

// Draw is the key of a random choice about the link; n tells it from the others.
func (l *Link) Draw(n uint64) kernel.Key { return l.draw.With(n) }

// Number counts the links of a network, from 0, in the order in which they were made.
func (l *Link) Number() int { return l.number }

// Client and Server are the ends of the link.
func (l *Link) Client() *kernel.Process { return l.client }
func (l *Link) Server() *kernel.Process { return l.server }

// way is one direction of a link.
type way struct {
	latency Latency
	delays  time.Duration // added by faults
	cuts    int           // partitions in force
	holds   int
	splits  []*torn // in force
	// heldSince is when the first of the holds began.
	heldSince kernel.True
	held      []held
}

// held is a message that is held back since it came.
type held struct {
	delivery
	since kernel.True
}

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
		return []*way{&l.lanes[0]}
	case Replies:
		return []*way{&l.lanes[1]}
	}
	return []*way{&l.lanes[0], &l.lanes[1]}
}

// Resets counts how often all connections of the link have broken at once.
func (l *Link) Resets() int { return l.epoch }

// ServerDied tells the clients of a server whose process ended while its machine goes on: it resets its connections.
func (l *Link) ServerDied() {
	l.epoch++
	for _, x := range slices.Clone(l.open) {
		x.send(RefusalMessage)
	}
}

// ServerVanished forgets the connections of a server whose machine lost power: nobody tells the clients.
func (l *Link) ServerVanished() { l.epoch++ }
