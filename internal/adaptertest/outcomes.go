//go:build unix

package adaptertest

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"redlocksim/redlock/driver"
)

const (
	// Short is a deadline, as in production.
	Short   = 50 * time.Millisecond
	tooLong = 2 * time.Second // generous for a busy machine, and far less than the timeouts of client libraries
)

// Acquire asks for the lock k, with a short deadline.
func Acquire(t *testing.T, node driver.Node) driver.Reply {
	t.Helper()
	return AcquireWithin(t, node, Short)
}

// AcquireWithin asks for the lock k, with a deadline.
func AcquireWithin(t *testing.T, node driver.Node, d time.Duration) driver.Reply {
	t.Helper()
	c := Command(t, "acquire k", TTL)
	start := time.Now()
	c.Deadline = start.Add(d)
	reply := Do(t, node, c)[0]
	if took := time.Since(start); took > d+tooLong {
		t.Errorf("took %v with a deadline of %v", took, d)
	}
	return reply
}

func is(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }

// serverSays is of a server's error with that word.
func serverSays(word string) func(error) bool {
	return func(err error) bool {
		return err != nil && strings.HasPrefix(strings.TrimPrefix(err.Error(), "ERR "), word)
	}
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

// What a command comes to: answered, not sent, sent without an answer, and not answered in time.
func outcomes(t *testing.T, a Adapter) {
	closedPort := func(t *testing.T) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
		return l.Addr().String()
	}
	reply := func(text string) func(*testing.T) string {
		return func(t *testing.T) string { return Stub(t, false, text) }
	}
	secret := func(t *testing.T) string {
		s := miniredis.RunT(t)
		s.RequireAuth("secret")
		return s.Addr()
	}
	some := func(err error) bool { return err != nil }
	tests := []struct {
		name   string
		server func(*testing.T) string
		config Config
		want   driver.Outcome
		err    func(error) bool // nil: no error
	}{
		{"accepted", reply(":1"), Config{}, driver.Accepted, nil},
		{"declined", reply(":0"), Config{}, driver.Declined, nil},
		{"nothing listens", closedPort, Config{}, driver.Refused, is(syscall.ECONNREFUSED)},
		{"dropped before the reply", func(t *testing.T) string { return Stub(t, false) }, Config{}, driver.Refused, is(io.EOF)},
		{"never a reply", func(t *testing.T) string { return Stub(t, true) }, Config{}, driver.TimedOut, isTimeout},
		{"never a connection", closedPort, Config{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}, driver.TimedOut, isTimeout},
		{"dial timeout before the deadline", closedPort, Config{Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
		}}, driver.Refused, is(os.ErrDeadlineExceeded)},
		{"no reply that can be read", reply("?"), Config{}, driver.Refused, some},
		{"an unexpected reply", reply("+QUEUED"), Config{}, driver.Failed, func(err error) bool {
			return err != nil && strings.HasSuffix(err.Error(), ": acquire was answered with QUEUED")
		}},
		{"nothing", reply("$-1"), Config{}, driver.Failed, some},
		{"LOADING", reply("-LOADING Redis is loading the dataset in memory"), Config{}, driver.Failed, serverSays("LOADING")},
		{"READONLY", reply("-READONLY You can't write against a read only replica."), Config{}, driver.Failed, serverSays("READONLY")},
		{"NOREPLICAS", reply("-NOREPLICAS Not enough good replicas to write."), Config{}, driver.Failed, serverSays("NOREPLICAS")},
		{"MOVED", reply("-MOVED 3999 127.0.0.1:6381"), Config{}, driver.Failed, serverSays("MOVED")},
		{"NOSCRIPT for a script in full", reply("-ERR NOSCRIPT"), Config{}, driver.Failed, serverSays("NOSCRIPT")},
		{"no credentials", secret, Config{}, driver.Failed, serverSays("NOAUTH")},
		{"wrong credentials", secret, Config{Password: "guess"}, driver.Failed, serverSays("WRONGPASS")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			within := Patience // which a reply does not take, on a busy machine either
			if test.want == driver.TimedOut {
				within = Short
			}
			var sent Rounds
			if test.config.Dial == nil {
				test.config.Dial = sent.Dial
			}
			nodes, end := a.Open(t, test.config, test.server(t))
			got := AcquireWithin(t, nodes[0], within)
			if got.Outcome != test.want || (test.err == nil) != (got.Err == nil) || test.err != nil && !test.err(got.Err) {
				t.Errorf("got %v, %T %v; want %v", got.Outcome, got.Err, got.Err, test.want)
			}
			if all := sent.Take(); len(all) > 1 {
				t.Errorf("sent %d times: %q", len(all), all)
			}
			_ = end()
		})
	}
}

func closed(t *testing.T, a Adapter) {
	for name, use := range map[string]bool{"unused": false, "used": true} {
		nodes, end := a.Open(t, Config{}, miniredis.RunT(t).Addr())
		if use {
			expect(t, name, Acquire(t, nodes[0]), driver.Accepted)
		}
		_ = end()
		batch := []*driver.Command{Command(t, "release a", 0), Command(t, "acquire a", TTL)}
		for _, got := range append(Do(t, nodes[0], batch...), Acquire(t, nodes[0])) {
			if got.Outcome != driver.Refused || !errors.Is(got.Err, a.ErrClosed) {
				t.Errorf("%s: got %v", name, got)
			}
		}
	}
}

// A pipeline that breaks half-way keeps the replies that had come, as does one that times out, unless the adapter gets them
// together.
func brokenPipeline(t *testing.T, a Adapter) {
	for _, test := range []struct {
		silent bool
		want   driver.Outcome
	}{{false, driver.Refused}, {true, driver.TimedOut}} {
		node := a.node(t, Stub(t, test.silent, ":1", ":0", ":0", "-OOM command not allowed"), Config{})
		var batch []*driver.Command
		for _, text := range []string{"acquire a", "acquire b", "release c", "acquire d", "acquire e", "extend f"} {
			c := Command(t, text, TTL)
			c.Deadline = time.Now().Add(Short)
			batch = append(batch, c)
		}
		want := []driver.Outcome{driver.Accepted, driver.Declined, driver.Declined, driver.Failed, test.want, test.want}
		if test.silent && a.AnswersTogether {
			want = slices.Repeat([]driver.Outcome{test.want}, len(batch))
		}
		for i, got := range Do(t, node, batch...) {
			if got.Outcome != want[i] || (got.Err == nil) != (want[i] <= driver.Declined) {
				t.Errorf("silent %v, command %d: got %v, want %v", test.silent, i, got, want[i])
			}
		}
	}
}

// The deadline ends the command, not the dial, which goes on, and whose connection is kept: no later dial ends, so that who is
// answered is answered on it. Which acquire that is depends on how soon the library has put it where it is found.
func dialOutlivesDeadline(t *testing.T, a Adapter) {
	server := miniredis.RunT(t)
	release := make(chan struct{})
	var dials atomic.Int32
	node := a.node(t, server.Addr(), Config{Dial: func(_ context.Context, network, addr string) (net.Conn, error) {
		if dials.Add(1) > 1 {
			<-t.Context().Done()
			return nil, t.Context().Err()
		}
		<-release
		return net.Dial(network, addr)
	}})
	expect(t, "while it dials", Acquire(t, node), driver.TimedOut)
	close(release)
	Eventually(t, Patience, "the connection is used", func() bool { return Acquire(t, node).Outcome <= driver.Declined })
}
