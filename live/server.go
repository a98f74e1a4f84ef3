//go:build linux

package live

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
	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/sim/redis"
)

// server is a node: a redis-server process on a loopback port, with a directory of its own.
type server struct {
	name        string
	dir         string
	addr        string
	persistence redis.Persistence
	preload     string // the library; empty if there is none, and the clocks are the machine's
	clocks      *faketime.Clocks
	follows     string // the address of its master; empty for a master
	successor   string // the address of who was promoted in its place, which it follows after its next start

	process     *process     // nil while it is down
	placeholder *placeholder // of the port, while it is down
	paused      bool
	isDark      bool           // it is down and without power
	knew        []redis.Record // its keys when it was last paused or stopped, if they may be needed; the values are digests
}

// launch starts the server for the first time, on a free port.
func (s *server) launch(ctx context.Context) error {
	return redisproc.OnFreePort(ctx, func(addr string) error {
		s.addr = addr
		return s.start(ctx)
	})
}

// start starts the server with what is in its directory, and returns when it answers.
func (s *server) start(ctx context.Context) error {
	host, port, err := net.SplitHostPort(s.addr)
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
	if s.successor != "" {
		s.follows, s.successor = s.successor, ""
	}
	if s.follows != "" {
		master, port, err := net.SplitHostPort(s.follows)
		if err != nil {
			return err
		}
		args = append(args, "--replicaof", master+" "+port)
	}
	cmd := exec.Command("redis-server", args...)
	cmd.Env = os.Environ()
	if s.preload != "" {
		cmd.Env = append(cmd.Env, s.clocks.Preload(s.preload)...)
	}
	// A replica's copy of its master's data is not persistence.
	if err := os.Remove(filepath.Join(s.dir, "dump.rdb")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	s.placeholder.close()
	s.placeholder = nil
	p, err := redisproc.Start(ctx, inOwnGroup(cmd), s.addr)
	if err != nil {
		return fmt.Errorf("live: %s: %w", s.name, err)
	}
	s.process, s.paused = &process{p}, false
	return nil
}

// stop takes the server down and keeps its port: connections are refused, or get no answer if the machine has no power.
func (s *server) stop(how faults.Stop) error {
	p := s.process
	s.process = nil
	if how == faults.ShutDown {
		p.signal(syscall.SIGCONT)
		if !p.End(syscall.SIGTERM, redisproc.Patience) {
			p.Kill()
			return fmt.Errorf("live: %s did not exit within %v of SIGTERM", s.name, redisproc.Patience)
		}
	} else {
		p.Kill()
	}
	if how == faults.PoweredOff && s.persistence != redis.NoPersistence {
		logs, err := filepath.Glob(filepath.Join(s.dir, "appendonlydir", "*.incr.aof"))
		if err != nil || len(logs) == 0 {
			return fmt.Errorf("live: %s has no append-only file: %w", s.name, err)
		}
		for _, path := range logs {
			if err := s.clocks.CutToSynced(path); err != nil {
				return err
			}
		}
	}
	var err error
	s.placeholder, err = holdPort(s.addr, how == faults.PoweredOff)
	return err
}

// close ends the server, whatever state it is in.
func (s *server) close() error {
	if s.process != nil {
		s.process.Kill()
	}
	s.placeholder.close()
	return s.clocks.Close()
}

// wall is the server's clock in milliseconds.
func (s *server) wall() int64 { return s.clocks.WallNow().UnixMilli() }
