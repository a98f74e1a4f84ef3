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
	trial  batch.Trial
	as     batch.Scripts // what the next message takes the server for
	asks   bool          // the next message asks for plain commands
	why    error         // the last error that forbade a script, or a command in one
}

// Message is the next message of the exchange, for at least one command. It keeps the slice until [Message.Answered] returns.
func (x *Exchange) Message(commands []*driver.Command) Message {
	if x.asks {
		return Message{server: x.server, asking: commands}
	}
	return Message{server: x.server, batch: batch.Arrange(commands, x.as)}
}

// again takes the commands that missed and returns those that the next message is for, in the same slice.
func (x *Exchange) again(missed []*driver.Command) []*driver.Command {
	s := x.server
	again := batch.Again(missed, &s.known, s.clock.Now())
	if len(again) == 0 {
		return nil
	}
	x.as, x.asks = x.trial.Again(&s.known)
	return again
}

// asked takes which plain commands were found for the commands that wait for them, and returns those that the next message is
// for, in the same slice.
func (x *Exchange) asked(tried batch.Tried, commands []*driver.Command) []*driver.Command {
	x.asks = false
	s := x.server
	reply := s.adapter.forbidden(x.why)
	x.as, commands = x.trial.Asked(&s.known, tried, commands, func(c *driver.Command) { c.Done(c, reply) })
	return batch.Wanted(commands, s.clock.Now())
}

// bars is batch.Trial.Bars of a command of a request that the server has answered with an error: it forbids the script, or what
// a release or an extend does in it. An acquire has looked for plain commands itself.
func (x *Exchange) bars(r *batch.Request, c *driver.Command, err error) bool {
	switch {
	case err == nil || !isForbidden(err):
		return false
	case isScriptForbidden(err) && !r.InFull && r.Script != batch.None: // perhaps by its hash alone
		return false
	case !isScriptForbidden(err) && (r.Script.IsPlain() || c.Op == driver.OpAcquire):
		return false
	case !x.trial.Bars(c, x.server.known.Scripts()):
		return false
	}
	x.why = err
	return true
}

// Message is some commands for the server that go together, in one pipeline, without MULTI. Do not copy it after its first use.
type Message struct {
	server *Server
	batch  batch.Message
	asking []*driver.Command // those that wait for what the server has of plain commands; nil unless the message asks for that
}

// Context is for how long an answer is waited for. Call end when it has come.
func (m *Message) Context() (ctx context.Context, end context.CancelFunc) {
	if m.asking != nil {
		return m.server.clock.WithDeadline(context.Background(), m.asking[0].Deadline)
	}
	last := m.batch.Last()
	if ctx := last.Context(); ctx != nil {
		return ctx, func() {} // the client ends it
	}
	return m.server.clock.WithDeadline(context.Background(), last.Deadline)
}

// Len is how many commands the message has.
func (m *Message) Len() int {
	if m.asking != nil {
		return trials
	}
	n := len(m.batch.Requests())
	if m.Waits() {
		n++
	}
	return n
}

// Waits reports whether the last command is a WAIT, for which the server keeps the connection busy until its replicas have
// confirmed the others.
func (m *Message) Waits() bool { return m.asking == nil && m.batch.Replicas() > 0 }

// Append appends the arguments of a command, by its number in the message, and says with what it is answered. They are strings,
// of which the first is the name of the command, and integers (int and int64).
func (m *Message) Append(args []any, number int) ([]any, Kind) {
	if m.asking != nil {
		return appendTrial(args, m.asking[0], number)
	}
	requests := m.batch.Requests()
	if number == len(requests) {
		return append(args, "wait", m.batch.Replicas(), m.batch.Patience(m.server.clock.Now()).Milliseconds()), Number
	}
	return appendRequest(args, &requests[number], m.batch.Looks())
}

// Answered takes the answers, by the numbers of the commands, and replies to the batch's commands. It returns those that the
// next message is for, in the slice that the message was made with.
func (m *Message) Answered(x *Exchange, answer func(number int) Answer) []*driver.Command {
	if m.asking != nil {
		return x.asked(triedPlain(answer), m.asking)
	}
	var by batch.Confirmation
	requests := m.batch.Requests()
	if m.Waits() {
		by = confirmation(answer(len(requests)))
	}
	missed := m.batch.Answered(&m.server.known, by, func(request, command int) (batch.Fate, driver.Reply) {
		return x.read(&requests[request], answer(request), command, m.batch.Looks())
	})
	return x.again(missed)
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
	case x.bars(r, r.Command(command), a.Err):
		return batch.Missed, reply
	case r.Script.IsPlain():
		if r.Script != batch.None && isPlainUnknown(a.Err) {
			return batch.Missed, reply
		}
	case a.Value != nil:
		fate = batch.Ran
	case r.IsJoint() && isAcrossSlots(a.Err):
		s.known.Part()
		return batch.Missed, reply
	case !r.InFull && (isScriptUnknown(a.Err) || isHashForbidden(a.Err)):
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
