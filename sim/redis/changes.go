package redis

import (
	"time"

	"redlocksim/sim/kernel"
	"redlocksim/sim/trace"
)

// Change is what a request did to one key of a node: it set or removed the key, or gave it another deadline.
type Change struct {
	Key string
	// Before and After are the key as it was and as it is; zero if there was, or is, none.
	Before, After Record
}

// Set reports that there was no such key before, and Removed that there is none any more.
func (c *Change) Set() bool     { return c.Before.Key == "" }
func (c *Change) Removed() bool { return c.After.Key == "" }

// Observable is a Memory that can be watched without touching it. That a key runs out, and what Put and Load put in place, are
// no changes: no request asked for them.
type Observable interface {
	Memory
	// Tell has f called after every change, from now on, and no other function.
	Tell(f func(Change))
	// Peek finds a key, and the true time at which it runs out if nothing happens to the node's clock, or at which it ran
	// out: Redis removes a key when a command looks for it. Forever is never.
	Peek(key string) (r Record, ends kernel.True, ok bool)
}

// Applied is the event that a request changes a key of one of the Servers, at that very step.
type Applied struct {
	Change
	Server *Server
	// Client owns the connection over which the request came, at true time Sent.
	Client *kernel.Process
	Sent   kernel.True
}

// Observable is the memory, to be watched.
func (s *Server) Observable() Observable { return s.memory.(Observable) }

// makeApplied makes an *Applied of each change of the Servers.
func (d *Deployment) makeApplied(all *trace.Kind[*Applied]) {
	var a Applied
	for _, s := range d.Servers {
		s.Observable().Tell(func(c Change) {
			a = Applied{Change: c, Server: s, Client: d.serving.From(), Sent: d.serving.Sent()}
			all.Tell(&a)
		})
	}
}

// ServerChanged is the event that a node is no longer as it was, for another reason than a request: it has stopped or started,
// has keys that were set or removed by hand or came from its master, is a master itself, or answers wrongly.
type ServerChanged struct{ *Server }

func (s *Server) isOther() { trace.Tell(s.Kernel().Events, ServerChanged{s}) }

// RunsOut is when a key with this deadline runs out by the node's clock, as it goes now.
func (s *Server) RunsOut(expiresAt int64) kernel.True {
	if expiresAt == 0 {
		return kernel.Forever
	}
	return s.Clock().WhenWall(kernel.Wall((expiresAt + 1) * int64(time.Millisecond)))
}
