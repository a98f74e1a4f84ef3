//go:build unix

package redisserver

import (
	"context"
	"strings"
	"testing"

	"redlocksim/internal/redisproc"
)

// A port that is taken must not be mistaken for the server's own: another process answers there.
func TestPortTaken(t *testing.T) {
	first := Start(t)
	cmd := redisproc.RedisServer(Program(t), first.Addr, t.TempDir(), nil)
	if p, err := redisproc.Start(context.Background(), cmd, redisproc.Answers(first.Addr)); err == nil {
		p.Kill()
		t.Fatal("launched at an address that another server has")
	} else if !strings.Contains(err.Error(), "exited") && !strings.Contains(err.Error(), "another process") {
		t.Error(err)
	}
}
