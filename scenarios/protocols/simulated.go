package protocols

import (
	"context"
	"errors"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// Simulated is a client process of the simulator, as a Host. There a process has one thing run at a time by itself, and
// calls into the library are no different from others.
type Simulated struct {
	*kernel.Process
	World    *sim.World
	requests int
	guests   int
}

// Simulate makes the Host of a client process of w.
func Simulate(w *sim.World, client *kernel.Process) *Simulated {
	return &Simulated{Process: client, World: w}
}

// Simulation is the process itself, for protocols whose service is a part of the simulator.
func (s *Simulated) Simulation() *Simulated { return s }

// LockClock implements Host.
func (s *Simulated) LockClock() driver.Clock { return s.WorkClock() }

// Runtime is what the lock runs on, which takes time from step to step.
func (s *Simulated) Runtime() driver.Runtime {
	r := s.Process.Runtime()
	r.Clock, r.Tasks = s.WorkClock(), s.WorkTasks()
	return r
}

// Wall implements Host.
func (s *Simulated) Wall() time.Time { return time.Unix(0, int64(s.Clock().Wall())) }

// Sequence implements Host.
func (s *Simulated) Sequence() driver.TokenSource { return sequence{s} }

// sequence draws from the storage, as from the sequence of a database.
type sequence struct{ of *Simulated }

// Token implements driver.TokenSource.
func (s sequence) Token(ctx context.Context, _ []string) (int64, error) {
	return s.of.World.Storage.Draw(ctx, s.of.Process, s.of.Key())
}

// Scale implements Host.
func (s *Simulated) Scale(d time.Duration) time.Duration { return d }

// Enter implements Host.
func (s *Simulated) Enter() {}

// Leave implements Host.
func (s *Simulated) Leave() {}

// Nodes implements Host.
func (s *Simulated) Nodes() []driver.Node { return s.World.Nodes(s.Process) }

// MasterOf implements Host.
func (s *Simulated) MasterOf(node string) string { return s.World.MasterOf(s.Process, node) }

// Redis implements Host.
func (s *Simulated) Redis() []Redis {
	var all []Redis
	for _, c := range s.World.Conns(s.Process) {
		all = append(all, simulatedRedis{c, s})
	}
	return all
}

// Key is what the next request of the process is for. Every request draws one, so that no two have the same.
func (s *Simulated) Key() kernel.Key {
	s.requests++
	return s.Draw("request").With(uint64(s.requests))
}

// NewGuest numbers what runs in the process, one after the other, as a program of its own.
func (s *Simulated) NewGuest() int {
	s.guests++
	return s.guests
}

type simulatedRedis struct {
	redis.Conn
	host *Simulated
}

func (r simulatedRedis) Do(deadline time.Time, q rediscmd.Request) rediscmd.Reply {
	return r.Conn.Do(r.host.Key(), deadline, q)
}

func (r simulatedRedis) Subscribe(channel string) Subscription {
	return r.host.World.Subscribe(r.host.Process, r.Node(), r.host.Key(), channel)
}

// errSimulator is why a protocol cannot run on a Host.
var errSimulator = errors.New("the service that it talks to is a part of the simulator")

// simulated is the host of a protocol whose service is a part of the simulator.
func (e Env) simulated() (*Simulated, error) {
	h, ok := e.Host.(interface{ Simulation() *Simulated })
	if !ok {
		return nil, errSimulator
	}
	return h.Simulation(), nil
}
