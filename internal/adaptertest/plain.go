//go:build unix

package adaptertest

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
)

// A release goes by the plain command that the first contact has found, and by a script in the same deadline once the server
// has it no more or forbids it, as an older one may do that took its place. It is carried out both times.
func plainReleaseFallsBack(t *testing.T, a Adapter) {
	for _, says := range []string{"ERR unknown command 'DELEX'", "NOPERM User locks has no permissions to run the 'delex' command", "ERR syntax error"} {
		m := miniredis.RunT(t) // which has DELEX
		db, sent := Admin(t, m.Addr()), &Rounds{}
		node := a.node(t, m.Addr(), Config{Dial: sent.Dial})
		release := func(want ...string) {
			t.Helper()
			setState(t, db, "a=mine:30s b=theirs:30s")
			sent.Take()
			for i, r := range Do(t, node, Command(t, "release a", TTL), Command(t, "release b", TTL)) {
				if (r.Outcome == driver.Accepted) != (i == 0) || r.Err != nil {
					t.Errorf("%s: release %d: %+v", says, i, r)
				}
			}
			if got := sent.Take(); !slices.Equal(got, want) || getState(t, db) != "b=theirs:30s" {
				t.Errorf("%s: sent %q, want %q, left %s", says, got, want, getState(t, db))
			}
		}
		Do(t, node, Command(t, "acquire z", TTL))
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

// Where scripts are forbidden, a client WithOneTTL does with plain commands if the server has them, from its first contact on.
// Any other is told what to permit, and has no vote set. A key that holds a list is no reason to take commands for missing.
func withoutScripts(t *testing.T, a Adapter) {
	real := redisserver.Start(t)
	admin := Admin(t, real.Addr)
	plain := HasPlain(t, admin)
	if err := errors.Join(admin.Do(t.Context(), "acl", "setuser", "default", "-eval", "-evalsha").Err(), admin.RPush(t.Context(), "list", "x").Err()); err != nil {
		t.Fatal(err)
	}
	for _, one := range []bool{true, false} {
		options := []redlock.Option{redlock.WithNodeTimeout(Patience)}
		if one {
			options = append(options, redlock.WithOneTTL())
		}
		client, err := redlock.New([]driver.Node{a.node(t, real.Addr, Config{})}, options...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.TryLock(t.Context(), "list", time.Minute); one && plain && !errors.Is(err, redlock.ErrTaken) {
			t.Errorf("the key holds a list: %v", err)
		}
		for range 3 {
			lease, err := client.TryLock(t.Context(), "r", time.Minute)
			if !one || !plain {
				if !errors.Is(err, a.ErrCommands) || admin.Exists(t.Context(), "r").Val() != 0 {
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
		CloseWithin(t, Patience, client)
	}
}

// A server that forbids DEL while a client has a lock there, of which it knows only scripts, is asked in the same call for
// plain commands in its place. One that has none keeps the key, and the error says what to permit.
func releaseWithoutDel(t *testing.T, a Adapter) {
	real := redisserver.Start(t)
	admin := Admin(t, real.Addr)
	plain := HasPlain(t, admin)
	ForbidPlain(t, admin)
	client, err := redlock.New([]driver.Node{a.node(t, real.Addr, Config{})}, redlock.WithNodeTimeout(Patience), redlock.WithOneTTL())
	if err != nil {
		t.Fatal(err)
	}
	lease, err := client.TryLock(t.Context(), "r", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	rules := []any{"acl", "setuser", "default", "-del"}
	if plain {
		rules = append(rules, "+delifeq")
	}
	if err := admin.Do(t.Context(), rules...).Err(); err != nil {
		t.Fatal(err)
	}
	err = lease.Unlock(t.Context())
	if left := admin.Exists(t.Context(), "r").Val() != 0; plain && (err != nil || left) || !plain && (!errors.Is(err, a.ErrCommands) || !left) {
		t.Errorf("plain commands %v: %v, and the key stands: %v", plain, err, left)
	}
	CloseWithin(t, Patience, client)
}

// A late extend must not cut short a longer one: only that of a client whose extends all ask the same TTL is a plain SET IFEQ.
func onlyOneTTLExtendsPlainly(t *testing.T, a Adapter) {
	real := redisserver.Start(t)
	db, sent := Admin(t, real.Addr), &Rounds{}
	node := a.node(t, real.Addr, Config{Dial: sent.Dial})
	hasIfEq := errors.Is(db.Do(t.Context(), "set", "k", "v", "ifeq", "v").Err(), redis.Nil)
	Do(t, node, Command(t, "acquire z", TTL))
	for _, one := range []bool{false, true} {
		setState(t, db, "a=mine:90s")
		sent.Take()
		c := Command(t, "extend a", 30*time.Second)
		c.OneTTL = one
		if r := Do(t, node, c)[0]; r.Outcome != driver.Accepted {
			t.Fatal(r)
		}
		want := []string{"eval"}
		if one && hasIfEq {
			want = []string{"set"}
		} else if one {
			want = []string{"evalsha"}
		}
		if got := sent.Take(); !slices.Equal(got, want) {
			t.Errorf("one TTL %v: sent %q, want %q", one, got, want)
		}
		if left := db.PTTL(t.Context(), "a").Val(); !one && left < 60*time.Second {
			t.Errorf("the extend leaves %v", left)
		}
	}
}
