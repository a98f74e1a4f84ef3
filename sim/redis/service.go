package redis

import "redlocksim/sim/network"

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
