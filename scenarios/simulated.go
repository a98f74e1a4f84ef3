package scenarios

import (
	"time"

	"redlocksim/scenarios/protocols"
	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// simulated is a client process of the simulator.
type simulated struct {
	*protocols.Simulated
}

func newSimulated(w *sim.World, client *kernel.Process) simulated {
	return simulated{protocols.Simulate(w, client)}
}

// NewOp implements Host.
func (s simulated) NewOp() int { return s.World.NewOp() }

// Record implements Host.
func (s simulated) Record(e history.Event) {
	s.write(e)
	s.stop(e.Kind)
}

// RecordAll implements Host.
func (s simulated) RecordAll(events []history.Event) {
	for _, e := range events {
		s.write(e)
	}
	s.stop(events[0].Kind)
}

// write writes an event down, unless the timeline has ended the process at the one before.
func (s simulated) write(e history.Event) {
	if !s.Dead() || e.Kind == history.Crash {
		s.World.Record(e)
	}
}

// stop stops the program if the timeline has paused or ended the process at events of a kind that is a step of the program.
func (s simulated) stop(at history.Kind) {
	if at != history.Expire {
		s.Checkpoint()
	}
}

// Believe implements Host.
func (s simulated) Believe(_ []Grant, until time.Time, over func()) (stop func()) {
	if !s.ProgramClock().Now().Before(until) {
		// A pause came between the computation of the validity and the grant, or the validity is not looked at.
		over()
		return nil
	}
	return s.World.WhenBeliefEnds(s.Process, until, over)
}

// Attempt implements Host.
func (s simulated) Attempt(acquire, number int) {
	s.Purpose(s.Draw("attempt").With(uint64(acquire)).With(uint64(number)))
}

// Access implements Host.
func (s simulated) Access(acquire, number int, e history.Event) history.Event {
	key := s.Draw("storage").With(uint64(acquire)).With(uint64(number))
	return s.World.Storage.Do(s.Process, key, e)
}
