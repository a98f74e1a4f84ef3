//go:build linux

// Package server runs a node of tier live: a process that can be stopped in every way, started again with what is on its disk,
// and asked what it knows. A node is a redis-server, a member of an etcd cluster or of a ZooKeeper ensemble, or a
// PostgreSQL server.
package server

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"

	"redlocksim/faults"
	"redlocksim/internal/child"
	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/live/internal/proxy"
	"redlocksim/sim/redis"
)

// Server is a node: a server process on loopback ports, with a directory of its own.
type Server struct {
	Name   string
	Kind   *Kind
	Addr   string           // where clients connect
	Clocks *faketime.Clocks // the machine's, unless a library that changes them is loaded into the process
	Paused bool
	IsDark bool // it is down and without power

	// Peers are where the other members of its cluster connect to it, by the addresses at which they know it: none of these
	// exists, as all connect through a Tunnel, which they tell the addresses as Greets says.
	Peers  map[string]string
	Greets proxy.Greeting
	Tunnel string

	// Follows is the address of its master; empty for a master. Successor is that of who was promoted in its place, which it
	// follows after its next start. Knew are its keys when it was last paused or stopped, if they may be needed; the values are
	// digests. All this is of a redis-server.
	Follows   string
	Successor string
	Knew      []redis.Record

	dir     string
	process *child.Process // nil while it is down

	// What its kind makes of it: the command that starts it with what is in its directory, whether the process can take part
	// now, and the signal at which it exits in good order, whoever is connected.
	command  func() (*exec.Cmd, error)
	ready    func(*child.Process) (bool, error)
	shutdown syscall.Signal
	// dump is what it knows that a restart can take from it; nil if that is nothing.
	dump func() ([]redis.Record, error)
	// killed is called when the process was killed: without power its directory loses what a machine would have lost. Nil if
	// there is nothing to do.
	killed func(withoutPower bool) error
	notes  func() ([]Committed, error)
}

// Start starts the server with what is in its directory, and returns when it can take part.
func (s *Server) Start(ctx context.Context) error {
	cmd, err := s.command()
	if err != nil {
		return err
	}
	p, err := redisproc.Start(ctx, child.InOwnGroup(cmd), s.ready)
	if err != nil {
		return fmt.Errorf("live: %s, %s at %s: %w", s.Name, s.Kind.Name, s.Addr, err)
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
		if !p.End(s.shutdown, redisproc.Patience) {
			p.Kill()
			return fmt.Errorf("live: %s did not exit within %v of being told to", s.Name, redisproc.Patience)
		}
		return nil
	}
	return s.kill(p, how == faults.PoweredOff)
}

func (s *Server) kill(p *child.Process, withoutPower bool) error {
	if p.Kill(); s.killed == nil {
		return nil
	}
	return s.killed(withoutPower)
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

// Follow makes a running server a replica of the master that it is to follow.
func (s *Server) Follow() error {
	host, port := redisproc.HostAndPort(s.Follows)
	if _, err := redisproc.Ask(s.Addr, "REPLICAOF", host, port); err != nil {
		return fmt.Errorf("live: %s: %w", s.Name, err)
	}
	return nil
}

// Unfreeze has a paused server answer, as the last things are asked of it.
func (s *Server) Unfreeze() {
	if s.Paused {
		_ = s.process.Signal(syscall.SIGCONT)
	}
}

// Dump is what the server knows that a restart can take from it.
func (s *Server) Dump() (all []redis.Record, err error) {
	if s.dump != nil {
		all, err = s.dump()
	}
	if err != nil {
		err = fmt.Errorf("live: what %s knows: %w", s.Name, err)
	}
	return all, err
}

// Notes are those that committed transactions have left; only a PostgreSQL server has any.
func (s *Server) Notes() ([]Committed, error) {
	if s.notes == nil {
		return nil, nil
	}
	return s.notes()
}

// Wall is the server's clock in milliseconds.
func (s *Server) Wall() int64 { return s.Clocks.WallNow().UnixMilli() }

// Close ends the server, whatever state it is in.
func (s *Server) Close() error {
	var err error
	if s.process != nil {
		err = s.kill(s.process, false)
	}
	return errors.Join(err, s.Clocks.Close())
}
