package network

import (
	"slices"
	"time"

	"redlocksim/sim/kernel"
)

// Exchange is one request and its reply.
type Exchange struct {
	link     *Link
	from     *kernel.Process // which has the client's end
	epoch    int
	key      kernel.Key
	end      Client
	isOpen   bool
	cut      bool        // the connection was reset: a reply that is under way is lost
	buffered bool        // the reply is in the socket buffer of a paused client, where a reset leaves it
	sent     kernel.True // when the request was
	torn     [2]torn     // how much of its request and its reply arrives, and by how much faults have them arrive later
	later    [2]time.Duration
	on       *Connection // that it is a part of; nil if it has one of its own
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

// lane is 0 for what goes to a server, and 1 for what goes back.
func (k MessageKind) lane() int {
	if k == RequestMessage {
		return 0
	}
	return 1
}

func (l *Link) begin(x *Exchange, from *kernel.Process, key kernel.Key, end Client) bool {
	*x = Exchange{link: l, from: from, epoch: l.epoch, key: key, end: end}
	if from.Dead() || l.network.k.Closed() {
		return false
	}
	x.isOpen = true
	l.open = append(l.open, x)
	return true
}

// Abandon closes the client's end: no reply will arrive any more. The request may still arrive.
func (x *Exchange) Abandon() {
	if !x.isOpen {
		return
	}
	x.isOpen = false
	x.link.open = slices.DeleteFunc(x.link.open, func(o *Exchange) bool { return o == x })
}

func (x *Exchange) way(kind MessageKind) *way { return &x.link.lanes[kind.lane()] }

// late is by how much faults have a message arrive later.
func (x *Exchange) late(kind MessageKind) *time.Duration { return &x.later[kind.lane()] }

// Client is the end at which the request was made.
func (x *Exchange) Client() Client { return x.end }

// From is the process that made the request. By now it may have crashed, and another may have its place on the link.
func (x *Exchange) From() *kernel.Process { return x.from }

// Link is the link that it goes over.
func (x *Exchange) Link() *Link { return x.link }

// Sent is when the request was sent.
func (x *Exchange) Sent() kernel.True { return x.sent }

// Connected says whether its connection was not broken since it began.
func (x *Exchange) Connected() bool { return x.epoch == x.link.epoch }
