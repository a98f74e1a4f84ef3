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

// Confirmed says how many replicas have confirmed; without it, none has. It is called before Answered.
func (m *Message) Confirmed(by int) { m.confirmed, m.unconfirmed = by, driver.Reply{} }

// Unconfirmed says why it is not known how many have. It is called before Answered.
func (m *Message) Unconfirmed(why driver.Reply) { m.confirmed, m.unconfirmed = 0, why }

// confirm is what the reply to a command becomes by what the replicas say.
func (m *Message) confirm(c *driver.Command, reply driver.Reply) driver.Reply {
	switch {
	case reply.Outcome != driver.Accepted || m.confirmed >= c.Replicas:
		return reply
	case m.unconfirmed.Outcome != driver.Unanswered:
		return m.unconfirmed
	}
	return driver.Reply{Outcome: driver.Failed, Err: &driver.ReplicasError{Confirmed: m.confirmed, Asked: c.Replicas}}
}
