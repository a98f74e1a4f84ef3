package redisnode

import (
	"context"

	"redlocksim/internal/batch"
	"redlocksim/redlock/driver"
)

// Exchange is what has come of a batch so far, over the messages that it takes. Make one with [Server.Begin].
//
// It has nothing of the messages themselves: so these, and what is made of them, can stay on the stack. A lock sends five
// messages, and its release five more.
type Exchange struct {
	server *Server
	as     batch.Scripts // what the next message takes the server for
}

// Message is the next message of the exchange, for at least one command. It keeps the slice until [Message.Answered] returns.
func (x *Exchange) Message(commands []*driver.Command) Message {
	return Message{server: x.server, batch: batch.Arrange(commands, x.as)}
}

// Message is some commands for the server that go together, in one pipeline, without MULTI. Do not copy it after its first use.
type Message struct {
	server *Server
	batch  batch.Message
}

// Context is for how long an answer is waited for. Call end when it has come.
func (m *Message) Context() (ctx context.Context, end context.CancelFunc) {
	last := m.batch.Last()
	if ctx := last.Context(); ctx != nil {
		return ctx, func() {} // the client ends it
	}
	return m.server.clock.WithDeadline(context.Background(), last.Deadline)
}

// Len is how many commands the message has.
func (m *Message) Len() int {
	n := len(m.batch.Requests())
	if m.Waits() {
		n++
	}
	return n
}

// Waits reports whether the last command is a WAIT, for which the server keeps the connection busy until its replicas have
// confirmed the others.
func (m *Message) Waits() bool { return m.batch.Replicas() > 0 }

// Append appends the arguments of a command, by its number in the message, and says with what it is answered. They are strings,
// of which the first is the name of the command, and integers (int and int64).
func (m *Message) Append(args []any, number int) ([]any, Kind) {
	requests := m.batch.Requests()
	if number == len(requests) {
		return append(args, "wait", m.batch.Replicas(), m.batch.Patience(m.server.clock.Now()).Milliseconds()), Number
	}
	return appendRequest(args, &requests[number], m.batch.Looks())
}

// Answered takes the answers, by the numbers of the commands, and replies to the batch's commands. It returns those that the
// next message is for, in the slice that the message was made with.
func (m *Message) Answered(x *Exchange, answer func(number int) Answer) (again []*driver.Command) {
	var by batch.Confirmation
	requests := m.batch.Requests()
	if m.Waits() {
		by = confirmation(answer(len(requests)))
	}
	missed := m.batch.Answered(&m.server.known, by, func(request, command int) (batch.Fate, driver.Reply) {
		return x.read(&requests[request], answer(request), command, m.batch.Looks())
	})
	again, x.as = batch.Again(missed, &m.server.known, m.server.clock.Now())
	return again
}

// confirmation reads the answer to a WAIT.
func confirmation(a Answer) batch.Confirmation {
	if n, is := a.Value.(int64); is {
		return batch.Confirmation{By: int(n)}
	}
	return batch.Confirmation{Unknown: a.none()}
}

// read reads what became of a request, and the reply to one of its commands. looks is as for appendRequest.
func (x *Exchange) read(r *batch.Request, a Answer, command int, looks bool) (fate batch.Fate, reply driver.Reply) {
	s := x.server
	switch {
	case r.Script.IsPlain():
		if r.Script != batch.None && a.Err != nil && isForbidden(a.Err) {
			return batch.Missed, reply
		}
	case a.Value != nil:
		fate = batch.Ran
	case (r.IsJoint() || r.Line != nil) && isAcrossSlots(a.Err):
		s.known.Part()
		return batch.Missed, reply
	case !r.InFull && (isScriptUnknown(a.Err) || isHashForbidden(a.Err)):
		return batch.Missed, reply
	case r.Line != nil && a.Err != nil && isKeyForbidden(a.Err):
		// Nothing was done, and perhaps no more than the line is forbidden.
		s.known.Unline()
		return batch.Missed, reply
	}
	if r.IsJoint() {
		reply = s.adapter.jointReply(r, command, a)
	} else {
		reply = s.adapter.replyTo(r.First, a)
	}
	if looks && reply.Outcome == driver.Accepted && r.First.Op == driver.OpAcquire {
		s.known.Learn(foundPlain(r, a))
	}
	return fate, s.withoutWakeUp(r, s.judge(reply))
}
