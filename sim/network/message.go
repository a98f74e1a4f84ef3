package network

import (
	"fmt"

	"redlocksim/sim/kernel"
)

// The network's kinds of steps.
var (
	StepRequest = kernel.NewMessageKind(2, "request arrives")
	StepReply   = kernel.NewMessageKind(3, "reply arrives")
	StepRefusal = kernel.NewMessageKind(4, "connection breaks")
)

// delivery is a message that has come to the end of its way.
type delivery struct {
	exchange *Exchange
	kind     MessageKind
}

// label is what the trace says of the arrival of a message.
func (x *Exchange) label(kind MessageKind) kernel.Label {
	l := x.link
	switch kind {
	case RequestMessage:
		return kernel.LabelMessage(StepRequest, x.from, l.server, x.key)
	case RefusalMessage:
		return kernel.LabelMessage(StepRefusal, l.server, x.from, x.key)
	}
	return kernel.LabelMessage(StepReply, l.server, x.from, x.key)
}

// torn is how much of a message arrives.
type torn struct {
	keep  int  // how many requests, or how many answers; 0 for all
	reset bool // the connection is reset behind them
}

// String says how much of a message arrived, empty if all of it.
func (t torn) String() string {
	if t.keep == 0 {
		return ""
	}
	return fmt.Sprintf("only the first %d", t.keep)
}

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

// What a message can be lost to.
const (
	lostToPartition = "a partition"
	lostToReset     = "its connection was reset"
	lostToCrash     = "the process has crashed"
)

// lostToServer is what a request is lost to at the server's end, by the presence that it meets.
var lostToServer = [...]string{Listening: lostToReset, Refusing: "the process is down", Silent: "the machine is off"}

// Sent is the event that a message is sent.
type Sent struct {
	*Exchange
	Kind MessageKind
}

// Ended is the event that it is clear what became of a message. Why is the reason if it was Lost, or arrived in part.
type Ended struct {
	*Exchange
	Kind MessageKind
	Fate
	Why string
}

// ended says what became of a message.
func (x *Exchange) ended(kind MessageKind, fate Fate, why string) {
	if fate == Lost {
		if x.on != nil {
			x.on.stalls(kind)
		}
		if n, is := x.end.(*Notice); is {
			call(n.IsLost)
		}
	}
	x.observe(kind, fate, why)
}

func (x *Exchange) observe(kind MessageKind, fate Fate, why string) {
	x.link.network.ended.Tell(Ended{x, kind, fate, why})
}
