package redis

import (
	"time"

	"redlocksim/sim/kernel"
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
	// OnChange has f called after every change, from now on, and no other function.
	OnChange(f func(Change))
	// Peek finds a key, and the true time at which it runs out if nothing happens to the node's clock, or at which it ran
	// out: Redis removes a key when a command looks for it. Forever is never.
	Peek(key string) (r Record, ends kernel.True, ok bool)
}

// Applied is a Change of a node, and the request that made it.
type Applied struct {
	Change
	Server *Server
	// Client owns the connection over which the request came, at true time Sent.
	Client *kernel.Process
	Sent   kernel.True
}

// Observable is the memory, to be watched.
func (s *Server) Observable() Observable { return s.memory.(Observable) }

// OnApplied has f called after every change that a request makes to a key of one of the Servers, from now on. What it is given
// is good until it returns.
func (d *Deployment) OnApplied(f func(*Applied)) {
	d.applied = append(d.applied, f)
	if len(d.applied) > 1 {
		return
	}
	var a Applied
	for _, s := range d.Servers {
		s.Observable().OnChange(func(c Change) {
			a = Applied{Change: c, Server: s, Client: d.serving.From(), Sent: d.serving.Sent()}
			for _, tell := range d.applied {
				tell(&a)
			}
		})
	}
}

// RunsOut is when a key with this deadline runs out by the node's clock, as it goes now.
func (s *Server) RunsOut(expiresAt int64) kernel.True {
	if expiresAt == 0 {
		return kernel.Forever
	}
	return s.Clock().WhenWall(kernel.Wall((expiresAt + 1) * int64(time.Millisecond)))
}
