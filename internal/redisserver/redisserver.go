//go:build unix

// Package redisserver runs redis-server processes for tests.
package redisserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlocksim/internal/output"
)

// RequireEnv is the environment variable that, set to 1, makes a missing redis-server a failure instead of a skip.
const RequireEnv = "REDLOCKSIM_REQUIRE_REDIS"

const (
	startTimeout = 20 * time.Second // generous: the machine may be busy
	stopTimeout  = 20 * time.Second
	portAttempts = 10
)

// Server is a redis-server process on a loopback port, without persistence unless the arguments say otherwise. Its
// methods fail the test they were started for, and are not safe for concurrent use.
type Server struct {
	// Addr is the address, host:port. It stays the same over Restart.
	Addr string
	// Dir is the working directory, kept over Restart and removed with the test.
	Dir string

	tb   testing.TB
	env  []string
	args []string
	proc *process
}

// Start starts a server, waits until it answers, and kills it when the test ends. The arguments are added to the
// command line, as in "--maxmemory", "1mb". Without a redis-server on the PATH the test is skipped; see RequireEnv.
func Start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	return StartIn(tb, nil, args...)
}

// Program is the path of redis-server. Without one on the PATH the test is skipped; see RequireEnv.
func Program(tb testing.TB) string {
	tb.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv(RequireEnv) == "1" {
			tb.Fatalf("redisserver: %s=1 and there is no redis-server on the PATH: %v", RequireEnv, err)
		}
		tb.Skipf("redisserver: skipped, there is no redis-server on the PATH (Debian package redis-server): %v", err)
	}
	return program
}

// StartIn is Start with additions to the environment, as in [exec.Cmd.Env], which Restart keeps.
func StartIn(tb testing.TB, env []string, args ...string) *Server {
	tb.Helper()
	program := Program(tb)
	s := &Server{tb: tb, Dir: tb.TempDir(), env: env, args: append([]string{program}, args...)}
	tb.Cleanup(func() {
		if s.proc != nil {
			s.proc.end(syscall.SIGKILL)
		}
	})
	// Between the choice of a port and the server's bind another process may take it: then the server exits, or the
	// answer comes from a process that is not ours, and another port is tried.
	var err error
	for range portAttempts {
		if s.Addr, err = freeAddr(); err == nil {
			if err = s.launch(); err == nil {
				return s
			}
		}
	}
	tb.Fatalf("redisserver: %v", err)
	return nil
}

// Restart starts the server again after Stop or Kill, at the same address and in the same directory.
func (s *Server) Restart() {
	s.tb.Helper()
	if s.proc != nil {
		s.tb.Fatal("redisserver: Restart of a running server")
	}
	if err := s.launch(); err != nil {
		s.tb.Fatalf("redisserver: %v", err)
	}
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
	if err := s.proc.cmd.Process.Signal(sig); err != nil {
		s.tb.Fatalf("redisserver: %v: %v\n%s", sig, err, &s.proc.output)
	}
}

func (s *Server) end(sig syscall.Signal) {
	s.tb.Helper()
	if s.proc == nil {
		s.tb.Fatalf("redisserver: %v: the server does not run", sig)
	}
	p := s.proc
	s.proc = nil
	if !p.end(sig) {
		p.end(syscall.SIGKILL)
		s.tb.Fatalf("redisserver: the server did not exit within %v of %v", stopTimeout, sig)
	}
}

func (s *Server) launch() error {
	host, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return err
	}
	args := append([]string{
		"--bind", host, "--port", port, "--dir", s.Dir, "--save", "", "--appendonly", "no", "--daemonize", "no",
	}, s.args[1:]...)
	cmd := exec.Command(s.args[0], args...)
	cmd.Env = append(os.Environ(), s.env...)
	p, err := startProcess(cmd)
	if err != nil {
		return err
	}
	if err := p.waitReady(s.Addr); err != nil {
		p.end(syscall.SIGKILL)
		return fmt.Errorf("redis-server at %s: %w\n%s", s.Addr, err, &p.output)
	}
	s.proc = p
	return nil
}

// process is one run of the program.
type process struct {
	cmd    *exec.Cmd
	output output.Buffer
	exited chan struct{}
}

func startProcess(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	cmd.SysProcAttr = dieWithParent()
	started := make(chan error)
	go func() {
		// The signal that dieWithParent asks for is sent when the starting thread ends, so this one is kept.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
			close(p.exited)
		}
	}()
	return p, <-started
}

// end signals the process, waits for its exit and reports whether it came.
func (p *process) end(sig syscall.Signal) bool {
	_ = p.cmd.Process.Signal(sig) // an error means that it has exited
	select {
	case <-p.exited:
		return true
	case <-time.After(stopTimeout):
		return false
	}
}

func (p *process) waitReady(addr string) error {
	var err error
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); {
		if err = p.ask(addr); err == nil || errors.Is(err, errOther) {
			return err
		}
		select {
		case <-p.exited:
			return errors.New("the process exited")
		case <-time.After(5 * time.Millisecond):
		}
	}
	return fmt.Errorf("no answer within %v: %w", startTimeout, err)
}

var errOther = errors.New("another process answers there")

// ask sends PING, and INFO to see that the answer is that of this process.
func (p *process) ask(addr string) error {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, "*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n"); err != nil {
		return err
	}
	r := bufio.NewReader(conn)
	line, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	if line != "+PONG\r\n" {
		return fmt.Errorf("PING was answered with %q", line)
	}
	if line, err = r.ReadString('\n'); err != nil {
		return err
	}
	size, err := strconv.Atoi(strings.Trim(line, "$\r\n"))
	if err != nil {
		return fmt.Errorf("INFO was answered with %q", line)
	}
	info := make([]byte, size)
	if _, err := io.ReadFull(r, info); err != nil {
		return err
	}
	if !bytes.Contains(info, fmt.Appendf(nil, "\r\nprocess_id:%d\r\n", p.cmd.Process.Pid)) {
		return errOther
	}
	return nil
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
