package batch

import (
	"time"

	"redlocksim/redlock/driver"
)

// Replicas is how many replicas must confirm what the message writes, before its acquires and extends are accepted. If it is not
// 0, a WAIT for that many follows the requests.
func (m *Message) Replicas() (n int) {
	for _, c := range m.commands {
		n = max(n, c.Replicas)
	}
	return n
}

// Patience is for how long the node waits for its replicas: for most of the time that is left, so that its answer arrives.
func (m *Message) Patience(now time.Time) time.Duration {
	left := m.Last().Deadline.Sub(now) * 3 / 4
	return max(left.Truncate(time.Millisecond), time.Millisecond)
}

// Confirmation is what the replicas say of a message, apart from it so that the message can stay on the stack. The zero value is
// that none has confirmed.
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
