package redisconn_test

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

	"redlocksim/internal/rediscmd"
	"redlocksim/internal/rediscmd/redisconn"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
)

var count = &rediscmd.Script{Lua: `return redis.call('INCR', KEYS[1]) + ARGV[1]`}

// Values are what the simulator's nodes answer, and a script reaches a server that has not seen it or has forgotten it.
func TestReplies(t *testing.T) {
	server := miniredis.RunT(t)
	client := goredis.NewClient(&redis.Options{Addr: server.Addr()})
	defer client.Close()
	conn := redisconn.New(client, driver.SystemClock())
	server.Push("list", "a", "b")
	for _, test := range []struct {
		request rediscmd.Request
		want    rediscmd.Reply
	}{
		{rediscmd.Request{Args: []string{"GET", "k"}}, rediscmd.Reply{}},
		{rediscmd.Request{Args: []string{"SET", "k", "v", "NX", "PX", "1000"}}, rediscmd.Reply{Value: "OK"}},
		{rediscmd.Request{Args: []string{"SET", "k", "v", "NX", "PX", "1000"}}, rediscmd.Reply{}},
		{rediscmd.Request{Args: []string{"DEL", "k"}}, rediscmd.Reply{Value: int64(1)}},
		{rediscmd.Request{Args: []string{"LRANGE", "list", "0", "-1"}}, rediscmd.Reply{Value: []any{"a", "b"}}},
		{rediscmd.Request{Args: []string{"INCR", "list"}}, rediscmd.Reply{Err: rediscmd.ServerError("WRONGTYPE Operation against a key holding the wrong kind of value")}},
		{rediscmd.Request{Script: count, Keys: []string{"n"}, Argv: []string{"10"}}, rediscmd.Reply{Value: int64(11)}},
		{rediscmd.Request{Args: []string{"SCRIPT", "FLUSH"}}, rediscmd.Reply{Value: "OK"}},
		{rediscmd.Request{Script: count, Keys: []string{"n"}, Argv: []string{"10"}}, rediscmd.Reply{Value: int64(12)}},
	} {
		if got := conn.Do(time.Now().Add(5*time.Second), test.request); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%v: %#v, want %#v", test.request.Args, got, test.want)
		}
	}
	if got := conn.Do(time.Now().Add(-time.Second), rediscmd.Request{Args: []string{"GET", "k"}}); got.Err != rediscmd.ErrTimeout {
		t.Errorf("after the deadline: %v", got)
	}
	server.Close()
	if got := conn.Do(time.Now().Add(5*time.Second), rediscmd.Request{Args: []string{"GET", "k"}}); got.Err != rediscmd.ErrReset {
		t.Errorf("without a server: %v", got)
	}
}

func TestErrors(t *testing.T) {
	other := errors.New("another")
	for _, test := range []struct{ err, want error }{
		{fmt.Errorf("x: %w", os.ErrDeadlineExceeded), rediscmd.ErrTimeout},
		{context.DeadlineExceeded, rediscmd.ErrTimeout},
		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, rediscmd.ErrTimeout},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, rediscmd.ErrReset},
		{io.EOF, rediscmd.ErrReset},
		{io.ErrUnexpectedEOF, rediscmd.ErrReset},
		{other, other},
	} {
		if got := redisconn.AsReplied(test.err); got != test.want {
			t.Errorf("%v: %v, want %v", test.err, got, test.want)
		}
	}
}
