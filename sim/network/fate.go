package network

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

// LossHandler is a Client that is told which of its messages are lost.
type LossHandler interface {
	Client
	Lost(MessageKind)
}

// ended says what became of a message.
func (x *Exchange) ended(kind MessageKind, fate Fate, why string) {
	if fate == Lost {
		if x.on != nil {
			x.on.stalls(kind)
		}
		if m, ok := x.end.(LossHandler); ok {
			m.Lost(kind)
		}
	}
	x.observe(kind, fate, why)
}

func (x *Exchange) observe(kind MessageKind, fate Fate, why string) {
	x.link.network.ended.Tell(Ended{x, kind, fate, why})
}
