//go:build unix

// Package adaptertest tests adapters of package redlock to Redis client libraries: what a server is made to do, what its
// answers are taken for, and what becomes of a command that gets none. [Run] is for the tests of each adapter.
package adaptertest

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
)

// Adapter is one under test.
type Adapter struct {
	// Open makes nodes for servers, and closes them with end.
	Open func(t testing.TB, c Config, addrs ...string) (nodes []driver.Node, end func() error)
	// ErrCommands and ErrClosed are the errors of a server that forbids something, and of nodes that were closed.
	ErrCommands, ErrClosed error
	// AnswersTogether: of a batch that times out no answer is known, although some had come.
	AnswersTogether bool
}

// Config is what nodes are made with.
type Config struct {
	Username, Password string
	Dial               func(ctx context.Context, network, addr string) (net.Conn, error) // nil: over TCP
	Runtime            driver.Runtime
}

// GoRedis is the shipped adapter.
var GoRedis = Adapter{
	Open: func(t testing.TB, c Config, addrs ...string) ([]driver.Node, func() error) {
		t.Helper()
		nodes, err := goredis.Opener{Runtime: c.Runtime, Options: func(o *redis.Options) {
			o.Username, o.Password, o.Dialer = c.Username, c.Password, c.Dial
		}}.Open(addrs...)
		if err != nil {
			t.Fatal(err)
		}
		return nodes, nodes.Close
	},
	ErrCommands: goredis.ErrCommands,
	ErrClosed:   redis.ErrClosed,
}

// node makes the node of one server.
func (a Adapter) node(t testing.TB, addr string, c Config) driver.Node {
	t.Helper()
	nodes, end := a.Open(t, c, addr)
	t.Cleanup(func() { _ = end() })
	return nodes[0]
}

// Admin is a connection of the test's own.
func Admin(t testing.TB, addr string) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, ContextTimeoutEnabled: true, Protocol: 2, DisableIdentity: true})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// servers are what the commands' semantics are tested against.
var servers = []struct {
	name  string
	start func(*testing.T) (addr string)
}{
	{"miniredis", func(t *testing.T) string { return WithoutPlain(t).Addr() }},
	{"redis-server", func(t *testing.T) string { return redisserver.Start(t).Addr }},
}

// WithoutPlain is a miniredis that has a run id, which it has not by itself, and none of the plain commands that release locks,
// of which it has DELEX: as a Redis 7.0.
func WithoutPlain(t *testing.T) *miniredis.Miniredis {
	m := miniredis.RunT(t)
	m.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
		switch command {
		case "DELEX":
			c.WriteError("ERR unknown command 'DELEX'")
		case "INFO":
			c.WriteBulk("# Server\r\nredis_version:7\r\nrun_id:00c0ffee\r\ntcp_port:1\r\n")
		default:
			return false
		}
		return true
	})
	return m
}

// ForbidPlain has a server forbid the plain commands that it has, so that releases go by scripts.
func ForbidPlain(t testing.TB, db *redis.Client) {
	for _, command := range []string{"delifeq", "delex"} {
		// A server that has no such command answers with an error.
		_ = db.Do(t.Context(), "acl", "setuser", "default", "-"+command).Err()
	}
}

// Eventually waits for what must come to pass within the bound, however busy the machine.
func Eventually(t testing.TB, bound time.Duration, what string, is func() bool) {
	t.Helper()
	for start := time.Now(); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Since(start) > bound {
			t.Fatalf("not within %v: %s", bound, what)
		}
	}
}

// CloseWithin closes a lock client.
func CloseWithin(t testing.TB, bound time.Duration, client *redlock.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	if err := client.Close(ctx); err != nil {
		t.Error(err)
	}
}

// Patience is for replies that are expected to come.
const Patience = 10 * time.Second

// Do runs the batch, waits until every command is answered, and checks that each is answered once.
func Do(t testing.TB, node driver.Node, batch ...*driver.Command) []driver.Reply {
	t.Helper()
	replies := make([]driver.Reply, len(batch))
	var (
		mu      sync.Mutex
		done    = make(chan struct{})
		answers = make([]int, len(batch))
		missing = len(batch)
	)
	for i, c := range batch {
		c.Done = func(answered *driver.Command, r driver.Reply) {
			mu.Lock()
			defer mu.Unlock()
			if answered != c {
				t.Errorf("command %d: Done was called with another command", i)
			}
			if answers[i]++; answers[i] > 1 {
				t.Errorf("command %d: Done was called %d times", i, answers[i])
				return
			}
			replies[i] = r
			if missing--; missing == 0 {
				close(done)
			}
		}
	}
	node.Do(batch)
	select {
	case <-done:
	case <-time.After(2 * Patience):
		t.Fatal("not all commands were answered")
	}
	return replies
}
