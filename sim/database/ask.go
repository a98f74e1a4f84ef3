package database

import (
	"time"

	"redlocksim/sim/kernel"
	"redlocksim/sim/service"
)

// answer is a statement's result, and the number read.
type answer struct {
	result Result
	number int64
}

// ask sends a statement and waits for its result.
func (d *Database) ask(client *kernel.Process, key kernel.Key, deadline time.Time, carryOut func() answer) (answer, error) {
	return service.Ask(d.world.Network.Link(client.Name(), d.server.Name()), key, deadline, func(c *service.Call[answer]) {
		if d.up {
			c.Answer(carryOut())
		}
	})
}
