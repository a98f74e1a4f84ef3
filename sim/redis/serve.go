package redis

import (
	"slices"
	"strings"

	"redlocksim/internal/rediscmd"
	"redlocksim/sim/network"
)

// Serving is the client's end of an exchange whose request knows itself what is done when it arrives.
type Serving interface {
	network.Client
	Serve()
}

// serve has a request that has arrived at a node carried out.
func (d *Deployment) serve(s *Server, x *network.Exchange) {
	d.serving = x
	switch end := x.Client().(type) {
	case Serving:
		end.Serve()
	case *Subscription:
		s.subscribe(end)
	case *leave:
		s.unsubscribe(end.subscription)
		x.Reply()
	default:
		if len(s.replication.feeds) == 0 {
			d.tier.Serve(s, x)
		} else if !s.answers(x) {
			d.tier.Serve(s, x)
			s.changed()
		}
	}
	if d.served != nil {
		d.served(s, x.Link().Client())
	}
}

// Asking is the client's end of an exchange with a node that has replicas or is one: the node itself answers what its
// memory knows nothing of.
type Asking interface {
	network.Client
	// Command is the command that is asked and its arguments; for a script, at least EVAL or EVALSHA.
	Command() []string
	// Answer sets the reply, an int64 or a ServerError.
	Answer(value any)
}

// ErrReadOnly is what a replica answers to a command that writes.
const ErrReadOnly = rediscmd.ServerError("READONLY You can't write against a read only replica.")

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
		s.wait(x, end, command[1:])
	case s.replication.master != nil && !slices.Contains(readers, name):
		end.Answer(ErrReadOnly)
		x.Reply()
	default:
		return false
	}
	return true
}
