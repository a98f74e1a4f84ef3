package rules

import (
	"strconv"

	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/consensus"
	"redlocksim/sim/database"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// isGuarded says whether nodes vote only where the restart guard lets them.
func isGuarded(r *Run) bool { return protocols.Of[protocols.RedlockSettings](r.Lock).Guard != nil }

// isFit says whether a node has a record of the restart guard of its own run, with the largest TTL that clients have, and no
// quarantine.
func (r *Run) isFit(s *redis.Server) bool {
	record, _, _ := s.Memory().Peek(driver.GuardKey)
	maxTTL := protocols.Of[protocols.RedlockSettings](r.Lock).Guard.MaxTTL
	return record.Value == s.RunID()+" 0 "+strconv.FormatInt(maxTTL.Milliseconds(), 10)
}

// isSound says whether a node is up, carries out all commands and has no fencing counter that is ahead and, if it is guarded,
// may vote.
func (r *Run) isSound(s *redis.Server, guarded bool) bool {
	return s.Up() && s.Forbidden() == "" && !s.AnswersWrongly() && (!guarded || r.isFit(s)) && !r.raised.isAhead(s)
}

// standsOn counts the nodes on which a lock stands for a holder.
func (r *Run) standsOn(key, holder string) (n int) {
	for _, s := range r.World.Servers {
		if record, ends, there := s.Memory().Peek(key); there && ends > r.World.Kernel.Now() && holds(record.Value, holder) {
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

// ownerOf is what stands for the owner of a key: its value or, if that is a hash which counts how often its owner has taken the
// lock, the owner's field.
func ownerOf(value string) string {
	if fields, is := redis.ParseHash(value); is && len(fields) == 1 {
		for name := range fields {
			return name
		}
	}
	return value
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

// reaching is a client that reaches for a node.
type reaching struct {
	client *kernel.Process
	server *redis.Server
}

// tried is when a client tried to reach a node the last time, without anything being sent.
type tried map[reaching]kernel.True

func watchTried(r *Run) tried {
	x := tried{}
	trace.On(r.World.Events, func(t redis.Tried) { x[reaching{t.Client, t.Server}] = r.World.Kernel.Now() })
	return x
}

// onNodeClock has f called when the clock by which a node's keys end has been stepped, or goes at another rate: they end at
// another time than they would have.
func (r *Run) onNodeClock(f func()) {
	type course struct{ ahead, rate int64 }
	courses := make([]course, len(r.World.Servers))
	look := func() (changed bool) {
		for i, s := range r.World.Servers {
			now := course{ahead(s.Process), s.Clock().Rate()}
			changed = changed || courses[i] != now
			courses[i] = now
		}
		return changed
	}
	look()
	trace.On(r.World.Events, func(kernel.ClockMoved) {
		if look() {
			f()
		}
	})
}

// ahead is by how much a wall clock is ahead of the clock that cannot be stepped.
func ahead(p *kernel.Process) int64 { return int64(p.Clock().Wall()) - int64(p.Clock().Boot()) }
