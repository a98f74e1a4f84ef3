package network

import "redlocksim/sim/kernel"

// MessageKind says which part of an exchange a message is.
type MessageKind uint8

const (
	// RequestMessage goes from a client to a server; the zero value.
	RequestMessage MessageKind = iota
	// ReplyMessage goes back, as does what a server publishes.
	ReplyMessage
	// RefusalMessage is what the machine of a server answers whose process is down or has forgotten the connection.
	RefusalMessage
)

// Fate is what became of a message.
type Fate uint8

const (
	// UnderWay: the run was over first; the zero value.
	UnderWay Fate = iota
	// Arrived: the receiver took it.
	Arrived
	// TooLate: it arrived, and the receiver waited for it no more.
	TooLate
	// Lost: it never arrived.
	Lost
)

// Exchange is one request and its reply.
type Exchange struct {
	link       *Link
	epoch      int
	key        kernel.Key
	end        Client
	next, prev *Exchange
	isOpen     bool
	cut        bool        // the connection was reset: a reply that is under way is lost
	buffered   bool        // the reply is in the socket buffer of a paused client, where a reset leaves it
	sent       kernel.True // when the request was
	requests   torn        // how much of each way's messages arrives
	replies    torn
}

// Client is the end of an exchange at which the request was made.
type Client interface {
	// Answered is called when the reply arrives, Broken when the connection is reset or refused; one of them, or
	// neither if a message is lost. After a reply of which a part is missing, without a reset, Broken may still come.
	Answered()
	Broken()
}

// Purposeful is a Client that can say what its exchange is for.
type Purposeful interface {
	Client
	Purpose() string
}

// LossHandler is a Client that is told which of its messages are lost.
type LossHandler interface {
	Client
	Lost(MessageKind)
}

// Batch is a Client whose request may be several in one message, of which the network can lose the end.
type Batch interface {
	Client
	// Requests is how many they are.
	Requests() int
}

// Open begins an exchange: the request is on its way. key says what it is for; two requests of a run that can be under
// way on the link at the same time must not share it.
func (l *Link) Open(x *Exchange, key kernel.Key, end Client) {
	if l.leads != nil {
		l = l.leads
	}
	if l.begin(x, key, end) {
		x.send(RequestMessage)
	}
}

// Push begins an exchange that has no request: the server's message is on its way.
func (l *Link) Push(x *Exchange, key kernel.Key, end Client) {
	if l.begin(x, key, end) {
		x.send(ReplyMessage)
	}
}

func (l *Link) begin(x *Exchange, key kernel.Key, end Client) bool {
	*x = Exchange{link: l, epoch: l.epoch, key: key, end: end}
	if l.client.Dead() || l.network.k.Closed() {
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
func (x *Exchange) Reply() { x.send(ReplyMessage) }

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

func (x *Exchange) way(kind MessageKind) *way {
	if kind == RequestMessage {
		return &x.link.request
	}
	return &x.link.reply
}

// send puts a message on its way, or loses it if the way is cut.
func (x *Exchange) send(kind MessageKind) {
	l := x.link
	w := x.way(kind)
	if kind == RequestMessage {
		x.sent = l.network.k.Now()
	}
	if o := l.network.observer; o != nil {
		o.Sent(x, kind)
	}
	if w.cuts > 0 {
		x.ended(kind, Lost, lostToPartition)
		return
	}
	if w.splits != nil {
		x.tear(kind, w)
	}
	at := l.network.k.Now().Add(w.latency.draw(l.draw.With(uint64(x.key)).With(uint64(kind))) + w.delays)
	l.network.k.Schedule(at, x.label(kind), x, int(kind))
}

// Client is the end at which the request was made.
func (x *Exchange) Client() Client { return x.end }

// Link is the link that it goes over.
func (x *Exchange) Link() *Link { return x.link }

// Sent is when the request was sent.
func (x *Exchange) Sent() kernel.True { return x.sent }

// Connected says whether its connection was not broken since it began.
func (x *Exchange) Connected() bool { return x.epoch == x.link.epoch }
