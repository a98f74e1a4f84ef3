package redis

import (
	"fmt"
	"slices"

	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/trace"
)

// Server is one Redis node: a process with a memory, which can stop in three different ways.
type Server struct {
	*kernel.Process
	broker
	memory      Memory
	disk        disk
	state       network.Presence
	links       []*network.Link
	replication replication
	deployment  *Deployment
	services    []Service
	starts      uint64 // how often it was started again
	runID       string // of this start
	forbidden   string
	software    Software
	instead     []*any // answers in place of those of the node; the last counts
	begin       func() // begins the WAIT behind the commands under way; nil if there is none
}

// Presence is how the machine meets a request.
func (s *Server) Presence() network.Presence { return s.state }

// State in words: "up", "refusing" (the process is down) or "off" (the machine is).
func (s *Server) State() string {
	return [...]string{network.Listening: "up", network.Refusing: "refusing", network.Silent: "off"}[s.state]
}

// Up says whether the node answers.
func (s *Server) Up() bool { return s.state == network.Listening }

// Forbidden is a command that the node does not have, as by rename-command, or Scripts; empty if it has all of its software.
func (s *Server) Forbidden() string { return s.forbidden }

// AnswerWith has the node answer every command with a value, and carry out none, until that is undone: a rediscmd.ServerError
// or a rediscmd.Status. Of several the one that began last counts. A restart ends none.
func (s *Server) AnswerWith(value any) (undo func()) {
	this := &value
	s.instead = append(s.instead, this)
	s.isOther()
	return func() {
		s.instead = slices.DeleteFunc(s.instead, func(other *any) bool { return other == this })
		s.isOther()
	}
}

// AnswersWrongly says whether the node carries out no command, and answers as if.
func (s *Server) AnswersWrongly() bool { return len(s.instead) > 0 }

// Restarted says whether the node was ever started again.
func (s *Server) Restarted() bool { return s.starts > 0 }

// Memory is what the tier made for the node.
func (s *Server) Memory() Memory { return s.memory }

// Dump is what the node knows.
func (s *Server) Dump() []Record { return s.memory.Dump() }

// RunID is what INFO server gives as run_id: another for every start of the node.
func (s *Server) RunID() string { return s.runID }

func (s *Server) drawRunID() {
	k := s.Draw("run-id").With(s.starts)
	s.runID = fmt.Sprintf("%016x%016x%08x", uint64(k.With(0)), uint64(k.With(1)), uint32(k.With(2)))
}

// CountUnknownScript is called by a tier whose node does not know a script.
func (s *Server) CountUnknownScript() { s.deployment.counts.UnknownScripts++ }

// Service is a program that runs on the machine of a node in the place of Redis, for lock protocols of other systems. It
// runs the same on all tiers.
type Service interface {
	// Stopped is called when the node's process ends, Started when it starts again. What the service keeps between the
	// two is what it had on its disk.
	Stopped()
	Started()
}

// Host has the node run the service from now on. Requests reach it as an Arriver.
func (s *Server) Host(service Service) { s.services = append(s.services, service) }

// BeforeWrite must be called before a command changes the memory, so that what the last fsync or snapshot covered is
// known.
func (s *Server) BeforeWrite() {
	if s.Up() {
		s.disk.beforeWrite(s.RanUntil(), s.memory)
	}
}

// HasService says whether a service runs on the node in the place of Redis.
func (s *Server) HasService() bool { return len(s.services) > 0 }

// OnDisk is what a restart finds, of a node that is down, or what the last one has found.
func (s *Server) OnDisk() []Record { return s.disk.written }

func (s *Server) isOther() { trace.Tell(s.Kernel().Events, ServerChanged{s}) }
