//go:build unix

package adaptertest

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock/driver"
)

// realServer is a redis-server, with a node and a connection of the test's own.
type realServer struct {
	*redisserver.Server
	node  driver.Node
	admin *redis.Client
}

func startReal(t *testing.T, a Adapter) *realServer {
	server := redisserver.Start(t)
	return &realServer{server, a.node(t, server.Addr, Config{}), Admin(t, server.Addr)}
}

func (r *realServer) one(t *testing.T, text string) driver.Reply {
	t.Helper()
	return Do(t, r.node, Command(t, text, TTL))[0]
}

// knowsScripts lets the node send every script once, and leaves nothing.
func (r *realServer) knowsScripts(t *testing.T) {
	t.Helper()
	for _, text := range []string{"acquire a b", "extend a b", "release a b"} {
		expect(t, "at first, "+text, r.one(t, text), driver.Accepted)
	}
}

// Both the plain acquire and the scripted one need memory, extending and releasing need none.
func serverOutOfMemory(t *testing.T, a Adapter) {
	r, ctx := startReal(t, a), context.Background()
	expect(t, "at first", r.one(t, "acquire a"), driver.Accepted)
	r.admin.ConfigSet(ctx, "maxmemory", "1")
	for _, text := range []string{"acquire b", "acquire b c"} {
		got := r.one(t, text)
		expect(t, "out of memory, "+text, got, driver.Failed)
		says(t, got.Err, "OOM")
	}
	expect(t, "out of memory, extend", r.one(t, "extend a"), driver.Accepted)
	expect(t, "out of memory, release", r.one(t, "release a"), driver.Accepted)
	r.admin.ConfigSet(ctx, "maxmemory", "0")
	if state := getState(t, r.admin); state != "" {
		t.Errorf("left over: %s", state)
	}
	expect(t, "with memory again", r.one(t, "acquire a b"), driver.Accepted)
}

// A replica refuses whatever writes.
func serverBecomesReplica(t *testing.T, a Adapter) {
	r, ctx := startReal(t, a), context.Background()
	r.knowsScripts(t)
	expect(t, "before it becomes a replica", r.one(t, "acquire a b"), driver.Accepted)
	if err := r.admin.Do(ctx, "replicaof", "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		text string
		TTL  time.Duration
	}{{"acquire c", TTL}, {"acquire c d", TTL}, {"extend a b", 2 * TTL}, {"extend a b", TTL / 2}, {"release a b", 0}} {
		got := Do(t, r.node, Command(t, test.text, test.TTL))[0]
		expect(t, "replica, "+test.text, got, driver.Failed)
		says(t, got.Err, "READONLY")
	}
	r.admin.Do(ctx, "replicaof", "no", "one")
	expect(t, "a master again", r.one(t, "acquire c"), driver.Accepted)
}

// How connections fare when the server stops, is killed, hangs and comes back.
func serverComesBack(t *testing.T, a Adapter) {
	r := startReal(t, a)
	r.knowsScripts(t)
	for _, end := range []struct {
		name string
		do   func()
	}{{"stopped", r.Stop}, {"killed", r.Kill}} {
		name := end.name
		expect(t, "before it is "+name, r.one(t, "acquire "+name), driver.Accepted)
		end.do()
		expect(t, name, Acquire(t, r.node), driver.Refused)
		r.Restart()
		// The scripts are forgotten, and after the next restart the connection is dead: an adapter sees that before it uses it.
		expect(t, "after it was "+name, r.one(t, "release "+name), driver.Declined)
		expect(t, "after it was "+name, r.one(t, "acquire "+name), driver.Accepted)
		r.Stop()
		r.Restart()
		expect(t, "nothing was sent while it was away", r.one(t, "acquire "+name), driver.Accepted)
	}

	r.Pause()
	expect(t, "hanging", Acquire(t, r.node), driver.TimedOut)
	expect(t, "hanging, on a new connection", Acquire(t, r.node), driver.TimedOut)
	r.Resume()
	expect(t, "going on", r.one(t, "acquire z"), driver.Accepted)
}

// says checks that an error is a server's with that word.
func says(t *testing.T, err error, word string) {
	t.Helper()
	if !serverSays(word)(err) {
		t.Errorf("error %v", err)
	}
}
