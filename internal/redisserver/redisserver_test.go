//go:build unix

package redisserver

import (
	"io"
	"net"
	"testing"
	"time"
)

// ping reports whether the server answers within the time given.
func ping(addr string, within time.Duration) bool {
	conn, err := net.DialTimeout("tcp", addr, within)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(within))
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return false
	}
	pong := make([]byte, 7)
	_, err = io.ReadFull(conn, pong)
	return err == nil && string(pong) == "+PONG\r\n"
}

func TestServer(t *testing.T) {
	const soon, never = 10 * time.Second, 100 * time.Millisecond
	s := Start(t)
	addr := s.Addr
	steps := []struct {
		name    string
		do      func()
		answers bool
	}{
		{"started", func() {}, true},
		{"paused", s.Pause, false},
		{"resumed", s.Resume, true},
		{"stopped", s.Stop, false},
		{"restarted", s.Restart, true},
		{"killed", s.Kill, false},
		{"restarted again", s.Restart, true},
		{"paused again", s.Pause, false},
		{"stopped while paused", s.Stop, false},
	}
	for _, step := range steps {
		step.do()
		within := never
		if step.answers {
			within = soon
		}
		if got := ping(addr, within); got != step.answers {
			t.Errorf("%s: answers = %v", step.name, got)
		}
	}
}

// A port that is taken must not be mistaken for the server's own: another process answers there.
func TestPortTaken(t *testing.T) {
	first := Start(t)
	second := &Server{tb: t, Addr: first.Addr, Dir: t.TempDir(), args: []string{Program(t)}}
	if err := second.launch(); err == nil {
		second.Kill()
		t.Fatal("launched at an address that another server has")
	}
}
