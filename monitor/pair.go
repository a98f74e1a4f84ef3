package monitor

import (
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// pair is a client and a node that it asks.
type pair struct {
	client *kernel.Process
	node   *redis.Server
}
