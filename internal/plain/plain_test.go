package plain_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"redlocksim/internal/plain"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
	"redlocksim/sim"
)

var count = &sim.Script{Lua: `return redis.call('INCR', KEYS[1]) + ARGV[1]`}

// Values are what the simulator's nodes answer, and a script reaches a server that has not seen it or has forgotten it.
func TestReplies(t *testing.T) {
	server := miniredis.RunT(t)
	client := goredis.NewClient(&redis.Options{Addr: server.Addr()})
	defer client.Close()
	conn := plain.New(client, driver.SystemClock())
	server.Push("list", "a", "b")
	for _, test := range []struct {
		request sim.Request
		want    sim.Reply
	}{
		{sim.Request{Args: []string{"GET", "k"}}, sim.Reply{}},
		{sim.Request{Args: []string{"SET", "k", "v", "NX", "PX", "1000"}}, sim.Reply{Value: "OK"}},
		{sim.Request{Args: []string{"SET", "k", "v", "NX", "PX", "1000"}}, sim.Reply{}},
		{sim.Request{Args: []string{"DEL", "k"}}, sim.Reply{Value: int64(1)}},
		{sim.Request{Args: []string{"LRANGE", "list", "0", "-1"}}, sim.Reply{Value: []any{"a", "b"}}},
		{sim.Request{Args: []string{"INCR", "list"}}, sim.Reply{Err: sim.ServerError("WRONGTYPE Operation against a key holding the wrong kind of value")}},
		{sim.Request{Script: count, Keys: []string{"n"}, Argv: []string{"10"}}, sim.Reply{Value: int64(11)}},
		{sim.Request{Args: []string{"SCRIPT", "FLUSH"}}, sim.Reply{Value: "OK"}},
		{sim.Request{Script: count, Keys: []string{"n"}, Argv: []string{"10"}}, sim.Reply{Value: int64(12)}},
	} {
		if got := conn.Do(time.Now().Add(5*time.Second), test.request); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%v: %#v, want %#v", test.request.Args, got, test.want)
		}
	}
	if got := conn.Do(time.Now().Add(-time.Second), sim.Request{Args: []string{"GET", "k"}}); got.Err != sim.ErrTimeout {
		t.Errorf("after the deadline: %v", got)
	}
	server.Close()
	if got := conn.Do(time.Now().Add(5*time.Second), sim.Request{Args: []string{"GET", "k"}}); got.Err != sim.ErrReset {
		t.Errorf("without a server: %v", got)
	}
}

func TestErrors(t *testing.T) {
	other := errors.New("another")
	for _, test := range []struct{ err, want error }{
		{fmt.Errorf("x: %w", os.ErrDeadlineExceeded), sim.ErrTimeout},
		{context.DeadlineExceeded, sim.ErrTimeout},
		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, sim.ErrTimeout},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, sim.ErrReset},
		{io.EOF, sim.ErrReset},
		{io.ErrUnexpectedEOF, sim.ErrReset},
		{other, other},
	} {
		if got := plain.Error(test.err); got != test.want {
			t.Errorf("%v: %v, want %v", test.err, got, test.want)
		}
	}
}
