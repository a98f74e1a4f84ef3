package redis

import (
	"errors"
	"fmt"

	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/trace"
)

// The events of nodes, besides *Asked.

// Applied is the event that a request changes a key of one of the Servers, at that very step.
type Applied struct {
	Change
	Server *Server
	// Client owns the connection over which the request came, at true time Sent.
	Client *kernel.Process
	Sent   kernel.True
}

// makeApplied makes an *Applied of each change of the Servers.
func (d *Deployment) makeApplied(all *trace.Kind[*Applied]) {
	var a Applied
	for _, s := range d.Servers {
		s.Memory().TellChanges(func(c Change) {
			a = Applied{Change: c, Server: s, Client: d.handled.From(), Sent: d.handled.Sent()}
			all.Tell(&a)
		})
	}
}

// ServerChanged is the event that a node is no longer as it was, for another reason than a request: it has stopped or started,
// has keys that were set or removed by hand or came from its master, is a master itself, or answers wrongly.
type ServerChanged struct{ *Server }

// Executed is the event that a node has done what a request of a client asks for.
type Executed struct {
	*Server
	Client *kernel.Process
}

// Tried is the event that a client with a Stream tries what may send nothing: to connect to a node, or to write to it over a
// connection that is broken.
type Tried struct {
	Client *kernel.Process
	*Server
}

// Told is the event that a node's reply to a command reaches the library of a client.
type Told struct {
	Client, Node string
	Command      *driver.Command
	Reply        driver.Reply
}

// Notified is the event that a message which a node publishes reaches the library of a client that listens.
type Notified struct {
	Client  *kernel.Process
	Message string
}

// String says it in the same words on all tiers.
func (t Told) String() string {
	c, r := t.Command, t.Reply
	return fmt.Sprintf("%s tells %s of %v %v round %d: %v %d %q %s", t.Node, t.Client, c.Op, c.Keys, c.Round, r.Outcome, r.Token, r.Record, reason(r))
}

// reason is why a node failed. Why nothing came of a request is put in other words on each tier.
func reason(r driver.Reply) string {
	if r.Outcome != driver.Failed || r.Err == nil {
		return ""
	}
	if e := (*driver.MaxTTLError)(nil); errors.As(r.Err, &e) {
		return e.Error()
	}
	return r.Err.Error()
}
