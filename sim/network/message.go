package network

import (
	"fmt"

	"redlocksim/sim/kernel"
)

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
