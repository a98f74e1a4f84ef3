//go:build unix

package adaptertest

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
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
func Acquire(t testing.TB, node driver.Node) driver.Reply {
	t.Helper()
	return within(t, node, Command(t, "acquire k", TTL), Short)
}

func within(t testing.TB, node driver.Node, c *driver.Command, d time.Duration) driver.Reply {
	t.Helper()
	start := time.Now()
	c.Deadline = start.Add(d)
	reply := Do(t, node, c)[0]
	if took := time.Since(start); took > d+tooLong {
		t.Errorf("took %v with a deadline of %v", took, d)
	}
	return reply
}

func expect(t testing.TB, when string, got driver.Reply, want driver.Outcome) {
	t.Helper()
	if got.Outcome != want {
		t.Errorf("%s: got %v, %v; want %v", when, got.Outcome, got.Err, want)
	}
}

// closedPort is an address at which nothing listens.
func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	return l.Addr().String()
}

// What a command comes to: answered, not sent, sent without an answer, and not answered in time.
func outcomes(t *testing.T, a Adapter) {
	reply := func(text string) func(*testing.T) string {
		return func(t *testing.T) string { return Stub(t, false, text) }
	}
	secret := func(t *testing.T) string {
		s := miniredis.RunT(t)
		s.RequireAuth("secret")
		return s.Addr()
	}
	var none Config
	dial := func(dial func(ctx context.Context) error) Config {
		return Config{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return nil, dial(ctx) }}
	}
	neverDials := dial(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	dialsTooLong := dial(func(context.Context) error { return &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded} })
	const acquire, voting = "acquire k", "acquire k token=1"
	for _, test := range []struct {
		name   string
		server func(*testing.T) string
		config Config
		do     string
		want   driver.Outcome
		err    string // what is in the text of the error; "": there is none
	}{
		{"accepted", reply(":1"), none, acquire, driver.Accepted, ""},
		{"declined", reply(":0"), none, acquire, driver.Declined, ""},
		{"nothing listens", closedPort, none, acquire, driver.Refused, "connection refused"},
		{"dropped before the reply", func(t *testing.T) string { return Stub(t, false) }, none, acquire, driver.Refused, "EOF"},
		{"never a reply", func(t *testing.T) string { return Stub(t, true) }, none, acquire, driver.TimedOut, " "},
		{"never a connection", closedPort, neverDials, acquire, driver.TimedOut, " "},
		{"dial timeout before the deadline", closedPort, dialsTooLong, acquire, driver.Refused, "i/o timeout"},
		{"no reply that can be read", reply("?"), none, acquire, driver.Refused, " "},
		{"an unexpected reply", reply("+QUEUED"), none, acquire, driver.Failed, ": acquire was answered with QUEUED"},
		{"nothing", reply("$-1"), none, acquire, driver.Failed, " "},
		{"LOADING", reply("-LOADING Redis is loading the dataset in memory"), none, acquire, driver.Failed, "LOADING"},
		{"NOREPLICAS", reply("-NOREPLICAS Not enough good replicas to write."), none, acquire, driver.Failed, "NOREPLICAS"},
		{"MOVED", reply("-MOVED 3999 127.0.0.1:6381"), none, acquire, driver.Failed, "MOVED"},
		{"NOSCRIPT for a script in full", reply("-ERR NOSCRIPT"), none, acquire, driver.Failed, "NOSCRIPT"},
		{"no credentials", secret, none, acquire, driver.Failed, "NOAUTH"},
		{"wrong credentials", secret, Config{Password: "guess"}, acquire, driver.Failed, "WRONGPASS"},
		{"no list", reply("+OK"), none, voting, driver.Failed, ": acquire was answered with OK"},
		{"too short a list", reply("*1\r\n:1"), none, voting, driver.Failed, ": acquire was answered with [1]"},
		{"a text for a counter", reply("*2\r\n:1\r\n$1\r\n1"), none, voting, driver.Failed, ": acquire was answered with [1 1]"},
		{"no code", reply("*2\r\n$1\r\n1\r\n:1"), none, voting, driver.Failed, ": acquire was answered with [1 1]"},
		{"a number for a record", reply("*2\r\n:-2\r\n:1"), none, voting, driver.Failed, ": acquire was answered with [-2 1]"},
		{"too long a list", reply("*3\r\n:0\r\n:1\r\n:1"), none, voting, driver.Failed, ": acquire was answered with [0 1 1]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			deadline := Patience // which a reply does not take, on a busy machine either
			if test.want == driver.TimedOut {
				deadline = Short
			}
			var sent Rounds
			if test.config.Dial == nil {
				test.config.Dial = sent.Dial
			}
			nodes, end := a.Open(t, test.config, test.server(t))
			got := within(t, nodes[0], (&bench{T: t}).command(test.do), deadline)
			if got.Outcome != test.want || (test.err == "") != (got.Err == nil) || got.Err != nil && !strings.Contains(got.Err.Error(), test.err) {
				t.Errorf("got %v, %T %v; want %v, %q", got.Outcome, got.Err, got.Err, test.want, test.err)
			}
			if timeout := net.Error(nil); test.want == driver.TimedOut && !(errors.As(got.Err, &timeout) && timeout.Timeout()) {
				t.Errorf("%v is no timeout", got.Err)
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
