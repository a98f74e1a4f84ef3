//go:build unix

// Package redisserver runs redis-server processes for tests.
package redisserver

import (
	"context"
	"net"
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
	env     []string
	program string
	args    []string
	proc    *child.Process
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
	s := reserve(tb, env)
	host, port := s.hostAndPort()
	s.args = append([]string{"--bind", host, "--port", port, "--dir", s.Dir, "--save", "", "--appendonly", "no", "--daemonize", "no"}, args...)
	s.start()
	return s
}

// reserve is a server that is to be started at an address of its own.
func reserve(tb testing.TB, env []string) *Server {
	tb.Helper()
	s := &Server{tb: tb, Addr: redisproc.FreeAddr(), Dir: tb.TempDir(), env: env, program: Program(tb)}
	tb.Cleanup(func() {
		if s.proc != nil {
			s.proc.Kill()
		}
	})
	return s
}

func (s *Server) hostAndPort() (host, port string) {
	s.tb.Helper()
	host, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		s.tb.Fatalf("redisserver: %v", err)
	}
	return host, port
}

func (s *Server) start() {
	s.tb.Helper()
	if err := s.launch(); err != nil {
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
	s.signal(syscall.SIGCONT)
	s.end(syscall.SIGTERM)
}

// Kill ends the server with SIGKILL and waits for its exit.
func (s *Server) Kill() {
	s.tb.Helper()
	s.end(syscall.SIGKILL)
}

// Pause stops the process with SIGSTOP: the kernel goes on accepting connections and data for it.
func (s *Server) Pause() {
	s.tb.Helper()
	s.signal(syscall.SIGSTOP)
}

// Resume lets a paused process go on (SIGCONT).
func (s *Server) Resume() {
	s.tb.Helper()
	s.signal(syscall.SIGCONT)
}

func (s *Server) signal(sig syscall.Signal) {
	s.tb.Helper()
	if s.proc == nil {
		s.tb.Fatalf("redisserver: %v: the server does not run", sig)
	}
	if err := s.proc.Signal(sig); err != nil {
		s.tb.Fatalf("redisserver: %v: %v\n%s", sig, err, s.proc.Output())
	}
}

func (s *Server) end(sig syscall.Signal) {
	s.tb.Helper()
	if s.proc == nil {
		s.tb.Fatalf("redisserver: %v: the server does not run", sig)
	}
	p := s.proc
	s.proc = nil
	if !p.End(sig, redisproc.Patience) {
		p.Kill()
		s.tb.Fatalf("redisserver: the server did not exit within %v of %v", redisproc.Patience, sig)
	}
}

func (s *Server) launch() (err error) {
	cmd := exec.Command(s.program, s.args...)
	cmd.Env = append(os.Environ(), s.env...)
	s.proc, err = redisproc.Start(context.Background(), cmd, redisproc.Answers(s.Addr))
	return err
}
