package sim

import (
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// Scheduler decides what happens next in a run; see kernel.Scheduler.
type Scheduler interface {
	// Choose gives the index of an option, or a negative number to end the run. It is also called, once, when there is
	// none.
	Choose(Situation) int
}

// Situation is what a Scheduler knows. It is good until the Scheduler returns.
type Situation struct {
	kernel.Situation
	// Memories stands for what each node knows, in the order of the world: equal for equal memories. Nil on tiers that
	// cannot tell.
	Memories []kernel.Key
	// History is what was recorded so far.
	History history.History
}

// scheduling is a Scheduler with the world that it is told about.
type scheduling struct {
	world     *World
	scheduler Scheduler
	memories  []kernel.Key
}

func (w *World) scheduling(s Scheduler) kernel.Scheduler {
	if s == nil {
		return nil
	}
	return &scheduling{world: w, scheduler: s}
}

// Choose implements kernel.Scheduler.
func (s *scheduling) Choose(now kernel.Situation) int {
	s.memories = s.memories[:0]
	for _, server := range s.world.Servers {
		if m, ok := server.Memory().(redis.Fingerprinted); ok {
			s.memories = append(s.memories, m.Fingerprint())
		}
	}
	return s.scheduler.Choose(Situation{Situation: now, Memories: s.memories, History: s.world.history})
}
