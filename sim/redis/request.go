package redis

import (
	"slices"

	"redlocksim/internal/rediscmd"
	"redlocksim/sim/network"
)

// Request is the client's end of an exchange that has commands for a node, on all tiers.
type Request interface {
	network.Client
	// Name is that of the first command, in capitals. All that the library asks for is as good as EVALSHA.
	Name() string
	// Commands appends what the commands want, in order.
	Commands(all []Command) []Command
	// Phrases says how the library puts its requests; nil if they are not the library's.
	Phrases() []Phrase
	// Answer gives all commands an answer for which none is carried out: a ServerError or a Status.
	Answer(value any)
}

// Phrase is how a request of the library is put.
type Phrase struct {
	// Command is SET, EVAL or EVALSHA.
	Command string
	// Keys is how many keys it names.
	Keys int
}

// Arriver is the client's end of an exchange whose request knows itself what is done where it arrives.
type Arriver interface {
	network.Client
	Arrive()
}

// arrived has the node take a request that has arrived.
func (s *Server) arrived(x *network.Exchange) {
	s.handle(x, func() {
		switch end := x.Client().(type) {
		case Arriver:
			end.Arrive()
		case Request:
			switch {
			case s.AnswersWrongly():
				end.Answer(*s.instead[len(s.instead)-1])
				x.Reply()
			case s.IsReplica() && !slices.Contains(readers, end.Name()):
				end.Answer(readOnly)
				x.Reply()
			default:
				s.execute(func() { s.deployment.tier.Execute(s, x) })
			}
		}
	})
}

// GoOn has the node execute commands of a request that have waited for the end of another's WAIT.
func (s *Server) GoOn(x *network.Exchange, commands func()) {
	s.handle(x, func() { s.execute(commands) })
}

// handle does what the node does for a request.
func (s *Server) handle(x *network.Exchange, does func()) {
	d := s.deployment
	d.handled = x
	does()
	d.executed.Tell(Executed{s, x.From()})
}

func (s *Server) execute(commands func()) {
	commands()
	if len(s.replication.feeds) > 0 {
		s.changed()
	}
	s.beginWait()
}

// readOnly is what a replica answers to a command that writes.
const readOnly = rediscmd.ServerError("READONLY You can't write against a read only replica.")

// readers are the commands that a replica carries out. It refuses scripts as a whole, where redis-server would run them
// up to their first write: those of locks write, unless they have nothing to do.
var readers = []string{"GET", "EXISTS", "PTTL", "PING", "HEXISTS", "HGET", "WAIT"}
