package redis

import (
	"fmt"

	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// Server is one Redis node: a process with a memory, which can stop in three different ways.
type Server struct {
	*kernel.Process
	memory      Memory
	persistence Persistence
	state       network.Presence
	started     kernel.True // fsyncs happen every second from here
	synced      kernel.True // the fsync that disk stands for
	disk        []Record    // what a power loss leaves
	links       []*network.Link
	subscribers []*Subscription // in the order in which they came
	replication replication
	services    []Service
	listened    map[*network.Link]uint64 // how many subscriptions of Listen there were
	starts      uint64                   // how often it was started again
	counts      *Counts
}

func newServer(p *kernel.Process, tier Tier, persistence Persistence, counts *Counts) *Server {
	s := &Server{Process: p, persistence: persistence, listened: map[*network.Link]uint64{}, counts: counts}
	s.memory = tier.Memory(s)
	return s
}

// Presence is how the machine meets a request.
func (s *Server) Presence() network.Presence { return s.state }

// State in words: "up", "refusing" (the process is down) or "off" (the machine is).
func (s *Server) State() string {
	return [...]string{network.Listening: "up", network.Refusing: "refusing", network.Silent: "off"}[s.state]
}

// Up says whether the node answers.
func (s *Server) Up() bool { return s.state == network.Listening }

// Restarted says whether the node was ever started again.
func (s *Server) Restarted() bool { return s.starts > 0 }

// Memory is what the tier made for the node.
func (s *Server) Memory() Memory { return s.memory }

// Dump is what the node knows.
func (s *Server) Dump() []Record { return s.memory.Dump() }

// RunID is what INFO server gives as run_id: another for every start of the node.
func (s *Server) RunID() string {
	k := s.Kernel().Draw("run-id").WithString(s.Name()).With(s.starts)
	return fmt.Sprintf("%016x%016x%08x", uint64(k.With(0)), uint64(k.With(1)), uint32(k.With(2)))
}
