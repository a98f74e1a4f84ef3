//go:build linux

// Package server runs a node of tier live: a process that can be stopped in every way, started again with what is on its disk,
// and asked what it knows. A node is a redis-server, a member of an etcd cluster or of a ZooKeeper ensemble, or a
// PostgreSQL server.
package server

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"redlocksim/faults"
	"redlocksim/internal/child"
	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/sim/redis"
)

// Server is a node: a server process on loopback ports, with a directory of its own.
type Server struct {
	Name   string
	Kind   *Kind
	Addr   string           // where clients connect
	Peer   string           // where the other members of its cluster do; empty if it has none
	Votes  string           // where they do to elect a leader, if that is another address
	Tunnel string           // the proxy through which it connects to them
	Clocks *faketime.Clocks // the machine's, unless a library that changes them is loaded into the process
	Paused bool
	IsDark bool // it is down and without power

	// Follows is the address of its master; empty for a master. Successor is that of who was promoted in its place, which it
	// follows after its next start. Forbidden is a command that it does not have; empty if it has all. Knew are its keys when
	// it was last paused or stopped, if they may be needed; the values are digests. All this is of a redis-server.
	Follows   string
	Successor string
	Forbidden string
	Knew      []redis.Record

	dir      string
	software software
	process  *child.Process // nil while it is down
}

// software is what the process of a server is.
type software interface {
	// start starts the process, with what is in the server's directory, and returns when it can take part.
	start(context.Context, *Server) (*child.Process, error)
	// shutdown is the signal at which it exits in good order, whoever is connected.
	shutdown() syscall.Signal
	// dump is what the server knows that a restart can take from it.
	dump(*Server) ([]redis.Record, error)
	// killed is called when the process was killed: without power its directory loses what a machine would have lost.
	killed(s *Server, withoutPower bool) error
}

// Start starts the server with what is in its directory, and returns when it can take part.
func (s *Server) Start(ctx context.Context) error {
	p, err := s.software.start(ctx, s)
	if err != nil {
		return fmt.Errorf("live: %s: %w", s.Name, err)
	}
	s.process, s.Paused = p, false
	return nil
}

// Stop takes the server down.
func (s *Server) Stop(how faults.Stop) error {
	p := s.process
	s.process = nil
	if how == faults.ShutDown {
		_ = p.Signal(syscall.SIGCONT)
		if !p.End(s.software.shutdown(), redisproc.Patience) {
			p.Kill()
			return fmt.Errorf("live: %s did not exit within %v of being told to", s.Name, redisproc.Patience)
		}
		return nil
	}
	p.Kill()
	return s.software.killed(s, how == faults.PoweredOff)
}

// IsUp reports that the process of the server runs, though it may be paused.
func (s *Server) IsUp() bool { return s.process != nil }

// Pause stops a server that is up, until GoOn.
func (s *Server) Pause() error {
	s.Paused = true
	if err := s.process.Stop(redisproc.Patience); err != nil {
		return fmt.Errorf("live: %s: %w", s.Name, err)
	}
	return nil
}

// GoOn lets a paused server continue. A redis-server may have to follow another master by now.
func (s *Server) GoOn() error {
	s.Paused = false
	_ = s.process.Signal(syscall.SIGCONT)
	if s.Follows == "" {
		return nil
	}
	return s.Follow()
}

// Unfreeze has a paused server answer, as the last things are asked of it.
func (s *Server) Unfreeze() {
	if s.Paused {
		_ = s.process.Signal(syscall.SIGCONT)
	}
}

// Close ends the server, whatever state it is in.
func (s *Server) Close() error {
	var err error
	if s.process != nil {
		s.process.Kill()
		err = s.software.killed(s, false)
	}
	return errors.Join(err, s.Clocks.Close())
}
