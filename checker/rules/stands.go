package rules

import (
	"redlocksim/sim/consensus"
	"redlocksim/sim/database"
	"redlocksim/sim/redis"
)

// standsOn counts the nodes on which a lock stands for a holder.
func (r *Run) standsOn(key, holder string) (n int) {
	for _, s := range r.World.Servers {
		if record, ends, there := s.Observable().Peek(key); there && ends > r.World.Kernel.Now() && holds(record.Value, holder) {
			n++
		}
	}
	return n
}

// holds says whether the value of a key is a holder's, or a hash in which the holder has a field.
func holds(value, holder string) bool {
	if fields, is := redis.ParseHash(value); is {
		_, has := fields[holder]
		return has
	}
	return value == holder
}

// isServed says whether the service that runs in the place of Redis has what a holder has begun there.
func (r *Run) isServed(holder string) bool {
	switch r.Lock.Capabilities().Service {
	case "lock service":
		return consensus.Of(r.World).Has(holder)
	case "database":
		return database.Of(r.World, 0).Has(holder)
	}
	return false
}
