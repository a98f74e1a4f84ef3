package model

import (
	"context"
	"errors"
	"slices"
	"time"

	"redlocksim/internal/batch"
	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// node is a client's view of a node.
type node struct {
	client *kernel.Process
	store  *store
	link   *network.Link
	known  batch.Known
}

func (n *node) Name() string { return n.store.server.Name() }

// Listen implements driver.Listener.
func (n *node) Listen(channel string, heard func(message string)) (stop func()) {
	return n.store.server.Listen(n.link, channel, heard)
}

// ConfirmsReplicas implements driver.Replicated.
func (n *node) ConfirmsReplicas() {}

// Do sends the commands as one message, over a connection of its own.
func (n *node) Do(together []*driver.Command) {
	x := &exchange{node: n}
	commands := x.one.command[:]
	if len(together) == 1 {
		commands[0] = together[0]
	} else {
		commands = slices.Clone(together)
	}
	key := redis.CommandKey(commands[0])
	x.message = batch.Arrange(commands, n.known.Scripts())
	if x.message.Requests()[0].InFull {
		key = key.With(1)
	}
	x.open(key)
}

// exchange is one message of the library on its way to a node and back.
type exchange struct {
	network.Exchange
	node    *node
	key     kernel.Key
	message batch.Message
	answers []answer     // of the node, to its requests
	heard   int          // how many of these have arrived
	failed  driver.Reply // what those get that are not answered
	timer   driver.Timer // of the deadline

	patience    time.Duration // of the WAIT behind the requests; 0 if there is none
	confirmed   int           // what that is answered
	unconfirmed driver.Reply  // or why it is not

	// What commands and answers are slices of for one command, to spare allocations.
	one struct {
		command [1]*driver.Command
		answer  [1]answer
		value   [1]string
	}
}

// open sends the message, unless its deadline has passed: a socket takes nothing then. The shipped adapter ends it at its
// deadline by itself: it learns nothing from what comes later.
func (x *exchange) open(key kernel.Key) {
	x.key = key
	if x.left() <= 0 {
		x.node.client.Tasks().Start(func() { x.done(timedOut) }) // which the adapter has it done by as well
		return
	}
	if x.message.Replicas() > 0 {
		x.patience = x.message.Patience(x.node.client.ProgramClock().Now())
	}
	x.node.link.Open(&x.Exchange, key, x)
	x.wait()
}

// left is the time until the deadline.
func (x *exchange) left() time.Duration {
	return x.message.Last().Deadline.Sub(x.node.client.ProgramClock().Now())
}

// wait starts the timer of the deadline.
func (x *exchange) wait() {
	x.timer = x.node.client.ProgramClock().AfterFunc(x.left(), func() {
		x.Abandon()
		x.done(timedOut)
	})
}

var timedOut = driver.Reply{Outcome: driver.TimedOut, Err: context.DeadlineExceeded}

// Purpose implements network.Purposeful.
func (x *exchange) Purpose() string { return x.message.String() }

// Answered implements network.Client.
func (x *exchange) Answered() {
	heard, reset := x.Answers(x.Requests())
	x.heard = heard
	switch {
	case heard == x.Requests():
		x.done(driver.Reply{})
	case reset:
		x.done(refused)
	default: // the adapter waits anew
		x.timer.Stop()
		x.wait()
	}
}

// Broken implements network.Client.
func (x *exchange) Broken() { x.done(refused) }

var refused = driver.Reply{Outcome: driver.Refused, Err: rediscmd.ErrReset}

// done gives the answers to the library, and sends once more, over another connection, what met no script.
func (x *exchange) done(failed driver.Reply) {
	if x.timer != nil {
		x.timer.Stop()
	}
	x.failed = failed
	n := x.node
	by := batch.Confirmation{By: x.confirmed, Unknown: x.unconfirmed}
	if x.heard <= len(x.message.Requests()) { // whatever the node has counted
		by = batch.Confirmation{Unknown: failed}
	}
	missed := x.message.Answered(&n.known, by, x.answer)
	missed, as := batch.Again(missed, &n.known, n.client.ProgramClock().Now())
	if len(missed) == 0 {
		return
	}
	again := &exchange{node: n, message: batch.Arrange(missed, as)}
	again.open(x.key.With(1))
}

// answer is what became of a request, and the reply to one of its commands, with what the adapter concludes of the server.
func (x *exchange) answer(request, command int) (batch.Fate, driver.Reply) {
	fate, reply := batch.Unanswered, x.failed
	n, r := x.node, &x.message.Requests()[request]
	noScripts := false
	if request < x.heard {
		a := &x.answers[request]
		fate, reply, noScripts = a.fate, a.reply(command), a.noScripts
	}
	looks := x.message.Looks()
	switch {
	case noScripts && r.Script != batch.None && !r.InFull: // perhaps by its hash alone
		fate = batch.Missed
	case fate == batch.Missed:
	case reply.Outcome == driver.Accepted && looks && r.First.Op == driver.OpAcquire:
		n.known.Learn(x.answers[request].found)
	case reply.Outcome == driver.Refused, errors.Is(reply.Err, errCommands):
		n.known.Doubt()
	}
	return fate, reply
}
