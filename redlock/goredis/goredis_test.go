//go:build unix

package goredis_test

import (
	"context"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"redlocksim/internal/adaptertest"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
)

func TestMain(m *testing.M) {
	redis.SetLogger(silent{}) // go-redis logs every failed dial
	// go-redis' own probe of a server that refused its dials notices only after a sleep of 1 s that its pool is closed.
	adaptertest.Main(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

const (
	patience = adaptertest.Patience
	ttl      = adaptertest.TTL
)

var (
	do, command             = adaptertest.Do, adaptertest.Command
	forbidPlain             = adaptertest.ForbidPlain
	eventually, closeWithin = adaptertest.Eventually, adaptertest.CloseWithin
)

// What adapters have in common.
func TestAdapter(t *testing.T) { adaptertest.Run(t, adaptertest.GoRedis) }

// newClient makes a client as in production; the change, if any, is made before.
func newClient(t testing.TB, addr string, change func(*redis.Options)) *redis.Client {
	t.Helper()
	o := &redis.Options{Addr: addr}
	if change != nil {
		change(o)
	}
	client := goredis.NewClient(o)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func newNode(t testing.TB, client *redis.Client, options ...goredis.Option) *goredis.Node {
	t.Helper()
	node, err := goredis.NewNode(client, options...)
	if err != nil {
		t.Fatal(err)
	}
	return node
}

// The first command on a connection has to fit into a short deadline together with the handshake: one round trip.
func TestHandshake(t *testing.T) {
	m := miniredis.RunT(t)
	node := newNode(t, newClient(t, m.Addr(), nil))
	if r := do(t, node, command(t, "acquire a", ttl))[0]; r.Outcome != driver.Accepted {
		t.Fatal(r)
	}
	if n := m.CommandCount(); n != 9 {
		t.Errorf("%d commands for the first acquire, want 9: HELLO and EVAL, in which there are EXISTS, DELEX, GET, PTTL, PEXPIRE, DEL and SET", n)
	}
	// A pipeline takes the same connection.
	do(t, node, command(t, "acquire b", ttl), command(t, "acquire c", ttl))
	if n := m.TotalConnectionCount(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}
