package live

import (
	"time"

	"redlocksim/live/internal/server"
	"redlocksim/lockprogram/lines"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
)

// Options say how to run. The zero value serves a program that calls Client when it is started with the argument live-client.
type Options struct {
	// Speed is how many times as fast as its scenario the run is. Zero is 5, or 1 where a scenario needs it.
	// The faster, the more the speed of the machine shows.
	Speed int
	// Again, if not nil, is called with each run that does not count, and by how much the machine held it up.
	Again func(r *verdict.Result, heldUp time.Duration)
	// Client is the command that starts a client process: it must end in a call of Client. Nil is this program with the
	// argument live-client.
	Client []string
	// Lock is the command of a lock program in the place of the scenario's protocol, with its arguments; nil if there is none.
	// See package lockprogram.
	Lock []string
	// Server is what the program needs on the nodes; redis if it is empty.
	Server lines.Server
	// IsProtocol says that the program is the scenario's protocol itself: the run is judged by what the scenario expects, not
	// beside a run of the protocol in the simulator.
	IsProtocol bool
	// OneNode says that the program uses one node alone, the first that it is given.
	OneNode bool
	// Renews says that the program renews its leases by itself.
	Renews bool
}

// kind is that of the servers.
func (o *Options) kind() *server.Kind { return server.KindOf(o.Server) }

// foreign is the lock program as the judge knows it; nil if there is none, or none that is not the scenario's own.
func (o *Options) foreign() *scenarios.Foreign {
	if o.Lock == nil || o.IsProtocol {
		return nil
	}
	return &scenarios.Foreign{IsProgram: true, Renews: o.Renews, OneNode: o.OneNode}
}
