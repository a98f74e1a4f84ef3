package batch

import "redlocksim/redlock/driver"

// Confirmation is what the replicas say of a message, apart from it so that the message can stay on the stack. The zero value
// is that none has confirmed.
type Confirmation struct {
	By      int          // how many have
	Unknown driver.Reply // why that is not known; the zero value if it is
}

// of is what the reply to a command becomes by what the replicas say.
func (by *Confirmation) of(c *driver.Command, reply driver.Reply) driver.Reply {
	switch {
	case reply.Outcome != driver.Accepted || by.By >= c.Replicas:
		return reply
	case by.Unknown.Outcome != driver.Unanswered:
		return by.Unknown
	}
	return driver.Reply{Outcome: driver.Failed, Err: &driver.ReplicasError{Confirmed: by.By, Asked: c.Replicas}}
}
