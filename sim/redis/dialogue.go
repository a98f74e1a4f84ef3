package redis

import (
	"errors"
	"fmt"

	"redlocksim/redlock/driver"
	"redlocksim/sim/network"
)

// Phrased is the client's end of an exchange of the library, which can say how it asks for what it wants.
type Phrased interface {
	network.Client
	// Phrases are the requests of the message; nil if it is not the library's.
	Phrases() []Phrase
}

// Phrase is how a request of the library is put.
type Phrase struct {
	// Command is SET, EVAL or EVALSHA.
	Command string
	// Keys is how many keys it names.
	Keys int
}

// Told is the event that a node's reply to a command reaches the library of a client.
type Told struct {
	Client, Node string
	Command      *driver.Command
	Reply        driver.Reply
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
