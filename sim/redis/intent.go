package redis

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/trace"
)

// Intent is what a command wants to do to keys, as it can be told from the command, whatever lock sends it.
type Intent uint8

const (
	// NoIntent is that of commands that do not concern locks, or of which nothing can be told, as of a script by a hash that
	// was not seen before; the zero value.
	NoIntent Intent = iota
	// Sets: the keys get a value.
	Sets
	// Extends: the keys get another deadline.
	Extends
	// Deletes: the keys go.
	Deletes
)

// Command is one command of a request, the same on all tiers.
type Command struct {
	Intent
	Keys []string
	// Shares says that it shares a script with the command before, and the two are one command to the node. A tier that sees
	// what the node does tells of both as one.
	Shares bool
	// Value is the first argument that can be a lock's value, and More are further ones; there may be others among them.
	Value string
	More  []string
	// Deadline is when the client stops waiting for the answer, by the clock that its code reads; zero if nobody else knows.
	Deadline time.Time
	// Latest says that this is so for the last of several commands that were sent together, and may be earlier for the others.
	Latest bool
	// Source is the script that the library's adapter sends in full, or a name for that; empty if it names one by its hash.
	Source string
	// Answer is what the node has answered to the library; Unanswered before that, and if the answer came in part.
	Answer driver.Outcome
}

// Carries reports whether a value is among the arguments.
func (c *Command) Carries(value string) bool {
	if c.Value == value {
		return true
	}
	for _, v := range c.More {
		if v == value {
			return true
		}
	}
	return false
}

// Commanding is the client's end of an exchange that can say what it asks for.
type Commanding interface {
	network.Client
	// Commands appends what it asks for, in order.
	Commands(all []Command) []Command
}

// Asked is the event that a command of a client passes a part of its way to a node, a replica too, and back.
type Asked struct {
	At Passage
	Command
	// The request that it is a part of.
	Server *Server
	// Client owns the connection over which the request came, on this link, at true time Sent.
	Client *kernel.Process
	Link   *network.Link
	Sent   kernel.True
	// Together is how many commands the request has.
	Together int
	// Settled says that the client waits for no more answers to them: it has all, or the connection was reset. An adapter that
	// sends them together hands no answer on before.
	Settled bool
	// Message counts the messages, so that it is the same for the commands of one.
	Message int
}

// Passage is a part of the way of a request and its answer.
type Passage uint8

const (
	// Sent: the client has sent the request. The zero value.
	Sent Passage = iota
	// Arrived: the node takes it, and carries it out at this very step.
	Arrived
	// Answered: the client, which still waited for it, reads the answer.
	Answered
	// Broken: the client, which still waited for the answer, hears that its connection was refused or reset.
	Broken
)

// passages makes an *Asked of each command in the messages of clients.
type passages struct {
	servers  []*Server
	all      *trace.Kind[*Asked]
	commands []Command // of the last request, whose memory the next one's take
	asked    Asked     // the last of them
}

func makeAsked(events *trace.Stream, servers []*Server, all *trace.Kind[*Asked]) {
	p := &passages{servers: servers, all: all}
	trace.Last(events, func(m network.Sent) {
		if m.Kind == network.RequestMessage {
			p.pass(m.Exchange, Sent, "")
		}
	})
	trace.Last(events, func(m network.Ended) {
		if m.Fate == network.Arrived {
			at := [...]Passage{network.RequestMessage: Arrived, network.ReplyMessage: Answered, network.RefusalMessage: Broken}[m.Kind]
			p.pass(m.Exchange, at, m.Why)
		}
	})
}

func (p *passages) pass(x *network.Exchange, at Passage, torn string) {
	of, is := x.Client().(Commanding)
	if !is {
		return
	}
	a := &p.asked
	a.At, a.Link, a.Client, a.Sent, a.Server = at, x.Link(), x.From(), x.Sent(), p.server(x.Link().Server())
	p.commands = of.Commands(p.commands[:0])
	a.Together = len(p.commands)
	a.Message++
	a.Settled = at == Broken || at == Answered && p.isSettled(x, torn)
	for i := range p.commands {
		a.Command = p.commands[i]
		if torn != "" {
			a.Answer = driver.Unanswered
		}
		p.all.Tell(a)
	}
}

// isSettled says whether a client that has read an answer waits for no others to the same request: a WAIT has one as well.
func (p *passages) isSettled(x *network.Exchange, torn string) bool {
	if batch, is := x.Client().(network.Batch); is {
		all := batch.Requests()
		answered, reset := x.Answers(all)
		if reset || answered < all {
			return reset
		}
	}
	return torn == "" && !slices.ContainsFunc(p.commands, func(c Command) bool { return c.Intent != NoIntent && c.Answer == driver.Unanswered })
}

// server is the node that runs in a process; nil if none does.
func (p *passages) server(process *kernel.Process) *Server {
	for _, s := range p.servers {
		if s.Process == process {
			return s
		}
	}
	return nil
}

// calls finds the commands that a script calls.
var calls = regexp.MustCompile(`redis\.p?call\(\s*['"](\w+)['"]`)

// IntentOf is what a script wants to do, by the commands that it calls: if it sets keys, that, although it may delete and
// extend others on the way.
func IntentOf(script string) (intent Intent) {
	for _, call := range calls.FindAllStringSubmatch(script, -1) {
		switch strings.ToUpper(call[1]) {
		case "SET", "SETNX":
			return Sets
		case "DEL", "UNLINK":
			intent = Deletes
		case "EXPIRE", "PEXPIRE":
			if intent == NoIntent {
				intent = Extends
			}
		}
	}
	return intent
}

// PlainCommand is a command by its words, which is no script.
func PlainCommand(words []string, deadline time.Time) Command {
	c := Command{Deadline: deadline}
	if len(words) < 2 {
		return c
	}
	switch strings.ToUpper(words[0]) {
	case "SET", "SETNX":
		c.Intent, c.Keys, c.More = Sets, words[1:2], words[2:]
		if isIfEq(words[1:]) {
			c.Intent = Extends
		}
	case "DELIFEQ", "DELEX":
		c.Intent, c.Keys, c.More = Deletes, words[1:2], words[2:]
	case "DEL", "UNLINK":
		c.Intent, c.Keys = Deletes, words[1:]
	case "EXPIRE", "PEXPIRE":
		c.Intent, c.Keys = Extends, words[1:2]
	}
	return c
}

// ScriptCommand is a call of a script.
func ScriptCommand(s *rediscmd.Script, keys, argv []string, deadline time.Time) Command {
	return Command{Intent: IntentOf(s.Lua), Keys: keys, More: argv, Deadline: deadline}
}
