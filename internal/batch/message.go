// Package batch decides how a batch of commands is sent to a node: which requests its message has, which script each request
// runs, which of them carry the script's source, and what is sent again if the node has forgotten a script.
//
// The shipped adapter, [redlocksim/redlock/goredis], and the model tier of the simulator, [redlocksim/sim/model], both use it.
package batch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"redlocksim/redlock/driver"
)

// Message is a batch on its way to a node. Make one with [Arrange], and do not copy it after its first use.
type Message struct {
	commands []*driver.Command
	one      [1]Request // the only request of a message with one command
	several  []Request
	of       []int // in which of several each command is
	looks    bool
}

// Arrange makes a message of at least one command. It carries the source of scripts that are not in known. It keeps the slice
// until [Message.Answered] returns.
func Arrange(commands []*driver.Command, known Scripts) Message {
	m := Message{commands: commands, looks: known&able == 0}
	if len(commands) == 1 {
		m.one[0] = Request{Script: wayOf(commands[0], known), First: commands[0], Line: lineOf(commands[0], known)}
	} else {
		m.several, m.of = arrange(commands, known)
	}
	for i := range m.Requests() {
		r := &m.Requests()[i]
		r.InFull = !known.Has(r.Script)
	}
	return m
}

// Requests are the requests of the message, in order.
func (m *Message) Requests() []Request {
	if m.several != nil {
		return m.several
	}
	return m.one[:]
}

// Looks reports whether the acquires of the message find out what the node allows.
func (m *Message) Looks() bool { return m.looks }

// Last is the command with the latest deadline, which is the message's. The caller keeps the time of the other commands.
func (m *Message) Last() *driver.Command {
	last := m.commands[0]
	for _, c := range m.commands[1:] {
		if c.Deadline.After(last.Deadline) {
			last = c
		}
	}
	return last
}

// Replicas is how many replicas must confirm what the message writes, before its acquires and extends are accepted. If it is
// not 0, a WAIT for that many follows the requests.
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

// Fate is what became of a request.
type Fate uint8

const (
	// Unanswered: it has no answer, or an error for one; the zero value.
	Unanswered Fate = iota
	// Ran: the node knows its script, and has run it to its end.
	Ran
	// Missed: the node does not know the script that it names by its hash, or the plain command, or does not allow it, or not
	// for these keys together.
	Missed
)

// Answered gives every command its reply, in the order of the batch, and notes in known which scripts the node has run. answer
// says what became of a request, by its number in the message, and what the reply to one of its commands is, which is ignored
// if the request missed; by is what replicas say of it. Answered returns the commands of requests that missed, in the slice of
// the batch.
//
// answer is a function and not an interface, so that the answers, the message and its commands can stay on the stack: a lock
// sends five messages, and its release five more.
func (m *Message) Answered(known *Known, by Confirmation, answer func(request, command int) (Fate, driver.Reply)) (missed []*driver.Command) {
	missed = m.commands[:0]
	for i, c := range m.commands {
		at := 0
		if m.of != nil {
			at = m.of[i]
		}
		r := &m.Requests()[at]
		number := r.answered
		r.answered++
		fate, reply := answer(at, number)
		if fate == Missed {
			missed = append(missed, c)
			continue
		}
		if fate == Ran && r.InFull {
			known.learn(r.Script)
		}
		c.Done(c, by.of(c, reply))
	}
	return missed
}

// Again takes the commands that missed and returns those of them that are still wanted, and as what the node is to be taken
// when they are sent again: it no longer expects the node to know their scripts, or any plain commands, since it may have been
// replaced. It reuses the slice.
func Again(missed []*driver.Command, known *Known, now time.Time) (again []*driver.Command, as Scripts) {
	again = wanted(missed, now)
	for _, c := range again {
		known.forget(scriptOf(c, known.Scripts()))
		known.forget(Votes)
		known.forget(Releases)
	}
	if len(again) > 0 && known.Scripts()&plain != 0 {
		known.Doubt()
	}
	return again, known.Scripts() & (able | apart | lineless)
}

// wanted returns those commands that a node which has not carried them out may still be asked for: their deadlines are later
// than now, the client's time, and they are not moot. It answers the others. It reuses the slice.
func wanted(commands []*driver.Command, now time.Time) (wanted []*driver.Command) {
	wanted = commands[:0]
	for _, c := range commands {
		switch {
		case c.IsMoot():
			c.Done(c, driver.Reply{Outcome: driver.TimedOut, Err: errMoot})
		case now.Before(c.Deadline):
			wanted = append(wanted, c)
		default:
			c.Done(c, driver.Reply{Outcome: driver.TimedOut, Err: errNoTimeForAnother})
		}
	}
	return wanted
}

// errMoot: what a node has not carried out, because it has forgotten the script or refuses it, is being released, so that it is
// not asked again.
var errMoot = fmt.Errorf("the node did not know the script, or refused it, and what it was asked for is being released: %w", context.Canceled)

var errNoTimeForAnother = fmt.Errorf("the node did not know the script, or refused it, and there was no time left to ask in another way: %w",
	context.DeadlineExceeded)

// String says what the message is for: the operations of its commands, with how often each comes if that is more than once, as
// in "2 releases, acquire".
func (m *Message) String() string {
	var counts [driver.OpPrepare + 1]int
	for i := range m.Requests() {
		counts[m.Requests()[i].First.Op] += m.Requests()[i].Len()
	}
	var parts []string
	for i := range m.Requests() {
		op := m.Requests()[i].First.Op
		switch n := counts[op]; {
		case n == 1:
			parts = append(parts, op.String())
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %vs", n, op))
		}
		counts[op] = 0
	}
	return strings.Join(parts, ", ")
}

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
