//go:build unix

package goredis_test

import (
	"errors"
	"slices"
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

// A release goes by the plain command that the first contact has found, and by a script in the same deadline once the server
// has it no more or forbids it, as an older one may do that took its place. It is carried out both times.
func TestPlainReleaseFallsBack(t *testing.T) {
	for _, says := range []string{"ERR unknown command 'DELEX'", "NOPERM User locks has no permissions to run the 'delex' command", "ERR syntax error"} {
		m := miniredis.RunT(t) // which has DELEX
		client, db := newClient(t, m.Addr(), nil), newClient(t, m.Addr(), nil)
		sent := &rounds{}
		client.AddHook(sent)
		node := newNode(t, client)
		release := func(want ...string) {
			t.Helper()
			setState(t, db, "a=mine:30s b=theirs:30s")
			sent.take()
			for i, r := range do(t, node, command(t, "release a", ttl), command(t, "release b", ttl)) {
				if (r.Outcome == driver.Accepted) != (i == 0) || r.Err != nil {
					t.Errorf("%s: release %d: %+v", says, i, r)
				}
			}
			if got := sent.take(); !slices.Equal(got, want) || getState(t, db) != "b=theirs:30s" {
				t.Errorf("%s: sent %q, want %q, left %s", says, got, want, getState(t, db))
			}
		}
		do(t, node, command(t, "acquire z", ttl))
		release("delex | delex")
		m.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
			if command == "DELEX" {
				c.WriteError(says)
			}
			return command == "DELEX"
		})
		release("delex | delex", "eval")
		release("evalsha")
	}
}

// forbidPlain has a server forbid the plain commands that it has, so that releases go by scripts.
func forbidPlain(t testing.TB, db *redis.Client) {
	for _, command := range []string{"delifeq", "delex"} {
		// A server that has no such command answers with an error.
		_ = db.Do(t.Context(), "acl", "setuser", "default", "-"+command).Err()
	}
}

// hasPlain says whether the redis-server of the tests has what a lock needs without scripts.
func hasPlain(t testing.TB, db *redis.Client) bool {
	return db.Do(t.Context(), "delifeq", "k", "v").Err() == nil
}

// Where scripts are forbidden, a client WithOneTTL does with plain commands if the server has them, from its first contact on.
// Any other is told what to permit, and has no vote set.
func TestWithoutScripts(t *testing.T) {
	real := redisserver.Start(t)
	admin := newClient(t, real.Addr, nil)
	plain := hasPlain(t, admin)
	if err := admin.Do(t.Context(), "acl", "setuser", "default", "-eval", "-evalsha").Err(); err != nil {
		t.Fatal(err)
	}
	for _, one := range []bool{true, false} {
		options := []redlock.Option{redlock.WithNodeTimeout(patience)}
		if one {
			options = append(options, redlock.WithOneTTL())
		}
		client, err := redlock.New([]driver.Node{newNode(t, newClient(t, real.Addr, nil))}, options...)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			lease, err := client.TryLock(t.Context(), "r", time.Minute)
			if !one || !plain {
				if !errors.Is(err, goredis.ErrCommands) || admin.Exists(t.Context(), "r").Val() != 0 {
					t.Fatalf("one TTL %v, plain commands %v: %v, %v", one, plain, lease, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(lease.Extend(t.Context(), time.Minute), lease.Unlock(t.Context())); err != nil {
				t.Error(err)
			}
			if admin.Exists(t.Context(), "r").Val() != 0 {
				t.Error("the lock is not released")
			}
		}
		closeWithin(t, patience, client)
	}
}

// A late extend must not cut short a longer one: only that of a client whose extends all ask the same TTL is a plain SET IFEQ.
func TestOnlyOneTTLExtendsPlainly(t *testing.T) {
	real := redisserver.Start(t)
	client, db := newClient(t, real.Addr, nil), newClient(t, real.Addr, nil)
	sent := &rounds{}
	client.AddHook(sent)
	node := newNode(t, client)
	hasIfEq := errors.Is(db.Do(t.Context(), "set", "k", "v", "ifeq", "v").Err(), redis.Nil)
	do(t, node, command(t, "acquire z", ttl))
	for _, one := range []bool{false, true} {
		setState(t, db, "a=mine:90s")
		sent.take()
		c := command(t, "extend a", 30*time.Second)
		c.OneTTL = one
		if r := do(t, node, c)[0]; r.Outcome != driver.Accepted {
			t.Fatal(r)
		}
		want := []string{"eval"}
		if one && hasIfEq {
			want = []string{"set"}
		} else if one {
			want = []string{"evalsha"}
		}
		if got := sent.take(); !slices.Equal(got, want) {
			t.Errorf("one TTL %v: sent %q, want %q", one, got, want)
		}
		if left := db.PTTL(t.Context(), "a").Val(); !one && left < 60*time.Second {
			t.Errorf("the extend leaves %v", left)
		}
	}
}
