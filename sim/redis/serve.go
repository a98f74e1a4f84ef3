package redis

import (
	"slices"
	"strings"

	"redlocksim/internal/rediscmd"
	"redlocksim/sim/network"
)

// serve carries out a request that has arrived at the node.
func (s *Server) serve(tier Tier, x *network.Exchange) {
	switch end := x.Client().(type) {
	case Serving:
		end.Serve()
	case *Subscription:
		s.subscribe(end)
	default:
		if asking, is := end.(Asking); is && s.AnswersWrongly() {
			asking.Answer(*s.instead[len(s.instead)-1])
			x.Reply()
		} else if len(s.replication.feeds) == 0 || !s.answers(x) {
			s.carryOut(func() { tier.Serve(s, x) })
		}
	}
}

// CarryOut has the node carry out commands of a request that have waited for an Await to end.
func (s *Server) CarryOut(x *network.Exchange, commands func()) {
	s.serves(x, func() { s.carryOut(commands) })
}

func (s *Server) carryOut(commands func()) {
	commands()
	if len(s.replication.feeds) > 0 {
		s.changed()
	}
	s.awaits()
}

// Ordered is an Asking whose commands come on a connection in bytes, where one waits for the one before. The tier carries out
// each, a WAIT too.
type Ordered interface {
	Asking
	Ordered()
}

// readOnly is what a replica answers to a command that writes.
const readOnly = rediscmd.ServerError("READONLY You can't write against a read only replica.")

// readers are the commands that a replica carries out. It refuses scripts as a whole, where redis-server would run them
// up to their first write: those of locks write, unless they have nothing to do.
var readers = []string{"GET", "EXISTS", "PTTL", "PING", "HEXISTS", "HGET"}

// answers has the node answer WAIT, and refuse to write if it is a replica.
func (s *Server) answers(x *network.Exchange) bool {
	end, ok := x.Client().(Asking)
	if !ok {
		return false
	}
	command := end.Command()
	name := strings.ToUpper(command[0])
	switch {
	case name == "WAIT":
		if _, is := end.(Ordered); is {
			return false
		}
		s.wait(x, end, command[1:])
	case s.replication.master != nil && !slices.Contains(readers, name):
		end.Answer(readOnly)
		x.Reply()
	default:
		return false
	}
	return true
}

// Service is a program that runs on the machine of a node in the place of Redis, for lock protocols of other systems. It
// runs the same on all tiers.
type Service interface {
	// Stopped is called when the node's process ends, Started when it starts again. What the service keeps between the
	// two is what it had on its disk.
	Stopped()
	Started()
}

// Serving is the client's end of an exchange whose request knows itself what is done when it arrives.
type Serving interface {
	network.Client
	Serve()
}
