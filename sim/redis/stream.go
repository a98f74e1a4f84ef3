package redis

import (
	"errors"
	"slices"

	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/trace"
)

// Stream is a connection of a client to a node, on which it speaks RESP in bytes of its own: that of somebody's lock, which
// knows nothing of the simulator. Nothing of it waits.
type Stream interface {
	// State is how far the connection is.
	State() StreamState
	// Write sends what makes a command, or several, as one message, and keeps what makes none yet. The error is a Nonsense;
	// what is written to a connection that is not Established is lost.
	Write([]byte) error
	// Read takes what has come, which is Buffered bytes.
	Read([]byte) int
	Buffered() int
	// Close gives the connection up. What was sent may still arrive.
	Close()
	// Err is a Nonsense that only the node has found, when it carried out a script; changed tells of it.
	Err() error
}

// StreamState is how far a Stream is.
type StreamState uint8

const (
	// Dialing: the node has not answered yet. The zero value.
	Dialing StreamState = iota
	// NotAccepted: the node has refused the connection.
	NotAccepted
	// Established: bytes go both ways.
	Established
	// BrokenOff: the connection was reset.
	BrokenOff
	// Closed: the client has given it up.
	Closed
)

// Nonsense is the error of a client that writes something which no node understands.
type Nonsense struct{ What string }

func (e *Nonsense) Error() string { return e.What }

// Streaming is a Tier whose clients can speak to nodes in bytes.
type Streaming interface {
	Tier
	// Dial asks for a connection to a server, over a link that leads to it. changed is called whenever the State is another or
	// something has come to be read. key is as for Conn.Do.
	Dial(client *kernel.Process, s *Server, l *network.Link, key kernel.Key, changed func()) Stream
}

// ErrNoStreams is the error of Dial on a tier on which clients cannot speak in bytes.
var ErrNoStreams = errors.New("sim: the nodes of this tier do not speak RESP")

// tried is a Stream whose client's vain tries are told of.
type tried struct {
	Tried
	Stream
}

func (x *tried) tell() { trace.Tell(x.Client.Kernel().Events, x.Tried) }

// Write implements Stream.
func (x *tried) Write(b []byte) error {
	if x.State() != Established {
		x.tell()
	}
	return x.Stream.Write(b)
}

// Dial asks for a connection of the client to a node; see Streaming.
func (d *Deployment) Dial(client *kernel.Process, s *Server, key kernel.Key, changed func()) (Stream, error) {
	tier, speaks := d.tier.(Streaming)
	if !speaks {
		return nil, ErrNoStreams
	}
	x := &tried{Tried{client, s}, nil}
	x.tell()
	link, all := d.network.Link(client.Name(), s.Name()), d.All()
	at := slices.IndexFunc(all, func(s *Server) bool { return s.Process == link.LeadsTo() }) // a replica, once it is promoted
	x.Stream = tier.Dial(client, all[at], link, key, changed)
	return x, nil
}
