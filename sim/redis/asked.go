package redis

import (
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/trace"
)

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
	of, is := x.Client().(Request)
	if !is {
		return
	}
	a := &p.asked
	a.At, a.Link, a.Client, a.Sent, a.Server = at, x.Link(), x.From(), x.Sent(), p.server(x.Link().Server())
	p.commands = of.Commands(p.commands[:0])
	a.Together = len(p.commands)
	a.Message++
	for i := range p.commands {
		a.Command = p.commands[i]
		if torn != "" {
			a.Answer = driver.Unanswered
		}
		p.all.Tell(a)
	}
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
