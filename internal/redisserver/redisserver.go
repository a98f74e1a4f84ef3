//go:build unix

// Package redisserver runs redis-server processes for tests.
package redisserver

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"redlocksim/internal/child"
	"redlocksim/internal/redisproc"
)

// RequireEnv is the environment variable that, set to 1, makes a missing redis-server a failure instead of a skip.
const RequireEnv = "REDLOCKSIM_REQUIRE_REDIS"

// Server is a redis-server process on a loopback port, without persistence unless the arguments say otherwise. Its
// methods fail the test they were started for, and are not safe for concurrent use.
type Server struct {
	// Addr is the address, host:port. It stays the same over Restart.
	Addr string
	// Dir is the working directory, kept over Restart and removed with the test.
	Dir string

	tb      testing.TB
	command func() *exec.Cmd
	proc    *child.Process // nil after Stop and Kill
}

// Start starts a server, waits until it answers, and kills it when the test ends. The arguments are added to the
// command line, as in "--maxmemory", "1mb". Without a redis-server the test is skipped; see Program.
func Start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	return StartIn(tb, nil, args...)
}

// Program is the path of redis-server, or of the server that [redisproc.ProgramEnv] names. Without one on the PATH the test is
// skipped; see RequireEnv.
func Program(tb testing.TB) string {
	tb.Helper()
	program, err := redisproc.Program()
	if err != nil {
		if os.Getenv(RequireEnv) == "1" || os.Getenv(redisproc.ProgramEnv) != "" {
			tb.Fatalf("redisserver: there is no redis-server: %v", err)
		}
		tb.Skipf("redisserver: skipped, there is no redis-server on the PATH (Debian package redis-server): %v", err)
	}
	return program
}

// StartIn is Start with additions to the environment, as in [exec.Cmd.Env], which Restart keeps.
func StartIn(tb testing.TB, env []string, args ...string) *Server {
	tb.Helper()
	s, program := reserve(tb)
	s.command = func() *exec.Cmd { return redisproc.RedisServer(program, s.Addr, s.Dir, env, args...) }
	s.start()
	return s
}

// reserve is a server that is to be started at an address of its own, by that program.
func reserve(tb testing.TB) (s *Server, program string) {
	tb.Helper()
	s = &Server{tb: tb, Addr: redisproc.FreeAddr(), Dir: tb.TempDir()}
	tb.Cleanup(func() {
		if s.proc != nil {
			s.proc.Kill()
		}
	})
	return s, Program(tb)
}

func (s *Server) start() {
	s.tb.Helper()
	var err error
	if s.proc, err = redisproc.Start(context.Background(), s.command(), redisproc.Answers(s.Addr)); err != nil {
		s.tb.Fatalf("redisserver: %v", err)
	}
}

// Restart starts the server again after Stop or Kill, at the same address and in the same directory.
func (s *Server) Restart() {
	s.tb.Helper()
	if s.proc != nil {
		s.tb.Fatal("redisserver: Restart of a running server")
	}
	s.start()
}

// Stop ends the server with SIGTERM, resuming it first, and waits for its exit.
func (s *Server) Stop() {
	s.tb.Helper()
	s.Resume()
	if !s.proc.End(syscall.SIGTERM, redisproc.Patience) {
		s.tb.Fatalf("redisserver: the server did not exit within %v of SIGTERM", redisproc.Patience)
	}
	s.proc = nil
}

// Kill ends the server with SIGKILL and waits for its exit.
func (s *Server) Kill() {
	s.proc.Kill()
	s.proc = nil
}

// Pause stops the process with SIGSTOP: the kernel goes on accepting connections and data for it.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume lets a paused process go on (SIGCONT).
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.tb.Helper()
	if err := s.proc.Signal(sig); err != nil {
		s.tb.Fatalf("redisserver: %v: %v\n%s", sig, err, s.proc.Output())
	}
}
