//go:build linux

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

	"redlocksim/internal/child"
	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/sim/redis"
)

// redisServer is redis-server.
type redisServer struct {
	persistence redis.Persistence
	preload     string // the library; empty if there is none, and the clocks are the machine's
}

// NewRedis makes the directory and the clocks of a redis-server that is to be started. preload is empty
// if faults need neither its clock nor its fsyncs.
func NewRedis(name, dir string, persistence redis.Persistence, preload string) (*Server, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	clocks, err := faketime.New(dir + ".clocks")
	if err != nil {
		return nil, err
	}
	return &Server{Name: name, Kind: Redis, Addr: redisproc.FreeAddr(), dir: dir, Clocks: clocks, software: redisServer{persistence, preload}}, nil
}

func (r redisServer) start(ctx context.Context, s *Server) (*child.Process, error) {
	host, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return nil, err
	}
	args := []string{"--bind", host, "--port", port, "--dir", s.dir, "--save", "", "--daemonize", "no", "--appendonly", "no",
		// A replica that was sent a file gets changes as soon as it has loaded it; without a file, only after its next
		// message, one second later. Periodic work is done often.
		"--repl-diskless-sync", "no", "--hz", "50",
		// A master that is shut down does not wait for its replicas.
		"--shutdown-timeout", "0"}
	switch r.persistence {
	case redis.EverySecond:
		args = append(args, "--appendonly", "yes", "--appendfsync", "everysec")
	case redis.Always:
		args = append(args, "--appendonly", "yes", "--appendfsync", "always")
	}
	if s.Forbidden != "" {
		args = append(args, "--rename-command", s.Forbidden, "")
	}
	if s.Forbidden == redis.Scripts {
		args = append(args, "--rename-command", "EVALSHA", "")
	}
	if s.Successor != "" {
		s.Follows, s.Successor = s.Successor, ""
	}
	if s.Follows != "" {
		master, port, err := net.SplitHostPort(s.Follows)
		if err != nil {
			return nil, err
		}
		args = append(args, "--replicaof", master+" "+port)
	}
	program, err := redisproc.Program()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, args...)
	cmd.Env = os.Environ()
	if r.preload != "" {
		cmd.Env = append(cmd.Env, s.Clocks.Preload(r.preload)...)
	}
	// A replica's copy of its master's data is not persistence.
	if err := os.Remove(filepath.Join(s.dir, "dump.rdb")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return redisproc.Start(ctx, child.InOwnGroup(cmd), s.Addr)
}

func (redisServer) shutdown() syscall.Signal { return syscall.SIGTERM }

// killed cuts the append-only files back to what was fsynced, without power.
func (r redisServer) killed(s *Server, withoutPower bool) error {
	if !withoutPower || r.persistence == redis.NoPersistence {
		return nil
	}
	logs, err := filepath.Glob(filepath.Join(s.dir, "appendonlydir", "*.incr.aof"))
	if err != nil || len(logs) == 0 {
		return fmt.Errorf("live: %s has no append-only file: %w", s.Name, err)
	}
	for _, path := range logs {
		if err := s.Clocks.CutToSynced(path); err != nil {
			return err
		}
	}
	return nil
}
