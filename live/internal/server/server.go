//go:build linux

// Package server runs a node of tier live: a redis-server process that can be stopped in every way, started again with what is
// on its disk, and asked what it knows.
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"redlocksim/faults"
	"redlocksim/internal/child"
	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/sim/redis"
)

// Server is a node: a redis-server process on a loopback port, with a directory of its own.
type Server struct {
	Name      string
	Addr      string
	Clocks    *faketime.Clocks
	Follows   string // the address of its master; empty for a master
	Successor string // the address of who was promoted in its place, which it follows after its next start
	Forbidden string // a command that it does not have; empty if it has all
	Paused    bool
	IsDark    bool           // it is down and without power
	Knew      []redis.Record // its keys when it was last paused or stopped, if they may be needed; the values are digests

	dir         string
	persistence redis.Persistence
	preload     string         // the library; empty if there is none, and the clocks are the machine's
	process     *child.Process // nil while it is down
	placeholder *placeholder   // of the port, while it is down
}

// New makes the directory and the clocks of a server that is to be launched. preload is empty if faults need neither its
// clock nor its fsyncs.
func New(name, dir string, persistence redis.Persistence, preload string) (*Server, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	clocks, err := faketime.New(dir + ".clocks")
	if err != nil {
		return nil, err
	}
	return &Server{Name: name, dir: dir, persistence: persistence, preload: preload, Clocks: clocks}, nil
}

// Launch starts the server for the first time, on a free port.
func (s *Server) Launch(ctx context.Context) error {
	return redisproc.OnFreePort(ctx, func(addr string) error {
		s.Addr = addr
		return s.Start(ctx)
	})
}

// Start starts the server with what is in its directory, and returns when it answers.
func (s *Server) Start(ctx context.Context) error {
	host, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return err
	}
	args := []string{"--bind", host, "--port", port, "--dir", s.dir, "--save", "", "--daemonize", "no", "--appendonly", "no",
		// A replica that was sent a file gets changes as soon as it has loaded it; without a file, only after its next
		// message, one second later. Periodic work is done often.
		"--repl-diskless-sync", "no", "--hz", "50",
		// A master that is shut down does not wait for its replicas.
		"--shutdown-timeout", "0"}
	switch s.persistence {
	case redis.EverySecond:
		args = append(args, "--appendonly", "yes", "--appendfsync", "everysec")
	case redis.Always:
		args = append(args, "--appendonly", "yes", "--appendfsync", "always")
	}
	if s.Forbidden != "" {
		args = append(args, "--rename-command", s.Forbidden, "")
	}
	if s.Successor != "" {
		s.Follows, s.Successor = s.Successor, ""
	}
	if s.Follows != "" {
		master, port, err := net.SplitHostPort(s.Follows)
		if err != nil {
			return err
		}
		args = append(args, "--replicaof", master+" "+port)
	}
	cmd := exec.Command("redis-server", args...)
	cmd.Env = os.Environ()
	if s.preload != "" {
		cmd.Env = append(cmd.Env, s.Clocks.Preload(s.preload)...)
	}
	// A replica's copy of its master's data is not persistence.
	if err := os.Remove(filepath.Join(s.dir, "dump.rdb")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	s.placeholder.close()
	s.placeholder = nil
	p, err := redisproc.Start(ctx, child.InOwnGroup(cmd), s.Addr)
	if err != nil {
		return fmt.Errorf("live: %s: %w", s.Name, err)
	}
	s.process, s.Paused = p, false
	return nil
}

// Stop takes the server down and keeps its port: connections are refused, or get no answer if the machine has no power.
func (s *Server) Stop(how faults.Stop) error {
	p := s.process
	s.process = nil
	if how == faults.ShutDown {
		_ = p.Signal(syscall.SIGCONT)
		if !p.End(syscall.SIGTERM, redisproc.Patience) {
			p.Kill()
			return fmt.Errorf("live: %s did not exit within %v of SIGTERM", s.Name, redisproc.Patience)
		}
	} else {
		p.Kill()
	}
	if how == faults.PoweredOff && s.persistence != redis.NoPersistence {
		logs, err := filepath.Glob(filepath.Join(s.dir, "appendonlydir", "*.incr.aof"))
		if err != nil || len(logs) == 0 {
			return fmt.Errorf("live: %s has no append-only file: %w", s.Name, err)
		}
		for _, path := range logs {
			if err := s.Clocks.CutToSynced(path); err != nil {
				return err
			}
		}
	}
	var err error
	s.placeholder, err = holdPort(s.Addr, how == faults.PoweredOff)
	return err
}

// IsUp reports that the process of the server runs, though it may be paused.
func (s *Server) IsUp() bool { return s.process != nil }

// Pause stops a server that is up, until GoOn.
func (s *Server) Pause() {
	s.Paused = true
	s.process.Stop(redisproc.Patience)
}

// Unfreeze has a paused server answer, as the last things are asked of it.
func (s *Server) Unfreeze() {
	if s.Paused {
		_ = s.process.Signal(syscall.SIGCONT)
	}
}

// Close ends the server, whatever state it is in.
func (s *Server) Close() error {
	if s.process != nil {
		s.process.Kill()
	}
	s.placeholder.close()
	return s.Clocks.Close()
}

// Wall is the server's clock in milliseconds.
func (s *Server) Wall() int64 { return s.Clocks.WallNow().UnixMilli() }
