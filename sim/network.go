package sim

import (
	"net"
	"os"
	"syscall"
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
}

// way is one direction of a link.
type way struct {
	latency Latency
	delays  time.Duration // added by faults
	cuts    int           // partitions in force
	holds   int
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

// delivery is a message that has come to the end of its way.
type delivery struct {
	exchange *Exchange
	part     int
}

// Exchange is one request and its reply.
type Exchange struct {
	link       *Link
	epoch      int
	key        Key
	end        Client
	next, prev *Exchange
	isOpen     bool
	cut        bool // the connection was reset: a reply that is under way is lost
	buffered   bool // the reply is in the socket buffer of a paused client, where a reset leaves it
}

// Client is the end of an exchange at which the request was made.
type Client interface {
	// Answered is called when the reply arrives, Broken when the connection is reset or refused; one of them, or
	// neither if a message is lost.
	Answered()
	Broken()
}

// ErrReset is why a command is Refused, on the tiers that have no sockets: what a client reads from a connection that
// was reset or refused. They share it because its text can get into a history.
var ErrReset error = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}

// The parts of an exchange; what an event of the network carries.
const (
	partRequest = iota
	partReply
	partReset
)

// Open begins an exchange: the request is on its way. key says what it is for; two requests of a run that can be under
// way on the link at the same time must not share it.
func (l *Link) Open(x *Exchange, key Key, end Client) {
	if l.leads != nil {
		l = l.leads
	}
	if l.begin(x, key, end) {
		x.send(partRequest)
	}
}

// push begins an exchange that has no request: the server's message is on its way.
func (l *Link) push(x *Exchange, key Key, end Client) {
	if l.begin(x, key, end) {
		x.send(partReply)
	}
}

func (l *Link) begin(x *Exchange, key Key, end Client) bool {
	*x = Exchange{link: l, epoch: l.epoch, key: key, end: end}
	if l.client.dead || l.network.k.closed {
		return false
	}
	x.isOpen = true
	x.next = l.open
	if l.open != nil {
		l.open.prev = x
	}
	l.open = x
	return true
}

// Reply sends the server's answer.
func (x *Exchange) Reply() { x.send(partReply) }

// Abandon closes the client's end: no reply will arrive any more. The request may still arrive.
func (x *Exchange) Abandon() {
	if !x.isOpen {
		return
	}
	x.isOpen = false
	if x.prev != nil {
		x.prev.next = x.next
	} else {
		x.link.open = x.next
	}
	if x.next != nil {
		x.next.prev = x.prev
	}
	x.next, x.prev = nil, nil
}

func (x *Exchange) way(part int) *way {
	if part == partRequest {
		return &x.link.request
	}
	return &x.link.reply
}

// send puts a message on its way, or loses it if the way is cut.
func (x *Exchange) send(part int) {
	l := x.link
	w := x.way(part)
	if w.cuts > 0 {
		return
	}
	lab := x.label(part)
	at := l.network.k.now.Add(w.latency.draw(l.draw.With(uint64(x.key)).With(uint64(part))) + w.delays)
	l.network.k.schedule(at, ordinary, nil, lab, x, part)
}

// label is what the trace says of the arrival of a message.
func (x *Exchange) label(part int) label {
	l := x.link
	switch part {
	case partRequest:
		return label{kind: StepRequest, from: l.client.number, to: l.server.number, ref: uint64(x.key)}
	case partReset:
		return label{kind: StepRefusal, from: l.server.number, to: l.client.number, ref: uint64(x.key)}
	}
	return label{kind: StepReply, from: l.server.number, to: l.client.number, ref: uint64(x.key)}
}

// fire is the arrival of a message at the far end, where the network may still keep it back or lose it.
func (x *Exchange) fire(part int) {
	w := x.way(part)
	switch {
	case w.cuts > 0:
	case w.holds > 0:
		w.held = append(w.held, delivery{x, part})
	default:
		x.deliver(part)
	}
}

func (x *Exchange) deliver(part int) {
	if part != partRequest {
		x.handOver(x.link.client, part)
	} else if x.isMet() {
		x.handOver(x.link.server, part)
	}
}

// isMet says whether there is a server for a request, on the connection that it came by; if only the process is gone its
// machine refuses.
func (x *Exchange) isMet() bool {
	l := x.link
	state := l.down()
	if state == listening && x.epoch == l.epoch {
		return true
	}
	if state != silent {
		x.send(partReset)
	}
	return false
}

// handOver gives a message to the process it is for, or has it wait in the process's socket buffer.
func (x *Exchange) handOver(receiver *Process, part int) {
	d := delivery{x, part}
	if !receiver.paused && !receiver.dead {
		d.fire(0)
		return
	}
	x.buffered = x.buffered || part == partReply && !x.cut
	receiver.admits(deferred{handler: d, label: x.label(part)})
}

// fire hands the message to the process it is for.
func (d delivery) fire(int) {
	x := d.exchange
	if d.part == partRequest {
		if x.isMet() { // it may have waited for a paused server, which is gone since
			x.link.listener(x)
		}
		return
	}
	if !x.isOpen || x.cut && !x.buffered && d.part == partReply {
		return
	}
	x.Abandon()
	if d.part == partReset {
		x.end.Broken()
	} else {
		x.end.Answered()
	}
}

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
}

// Mend takes one Cut back.
func (l *Link) Mend(d Direction) {
	for _, w := range l.ways(d) {
		w.cuts--
	}
}

// Delay adds to the delay of every message sent from now on; a negative duration takes it back. It returns the largest
// delay that is added now.
func (l *Link) Delay(d Direction, by time.Duration) time.Duration {
	var most time.Duration
	for _, w := range l.ways(d) {
		w.delays += by
		most = max(most, w.delays)
	}
	return most
}

// Hold keeps back what arrives until Release. Holds add up.
func (l *Link) Hold(d Direction) {
	for _, w := range l.ways(d) {
		if w.holds++; w.holds == 1 {
			w.heldSince = l.network.k.now
		}
	}
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
	return longest
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

// Client is the end at which the request was made.
func (x *Exchange) Client() Client { return x.end }
