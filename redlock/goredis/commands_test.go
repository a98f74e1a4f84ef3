//go:build unix

package goredis_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
)

// forbidding are servers that allow SET, and not all that extending and releasing need.
var forbidding = []struct {
	name  string
	args  []string
	acl   string // of the user, over all that is allowed
	fence bool
	guard bool
}{
	{name: "EVAL renamed", args: []string{"--rename-command", "EVAL", "", "--rename-command", "EVALSHA", ""}},
	{name: "DEL renamed", args: []string{"--rename-command", "DEL", ""}},
	{name: "no scripts by ACL", acl: "-@scripting"},
	{name: "no EVAL by ACL", acl: "-eval"},
	{name: "no DEL by ACL", acl: "-del"},
	{name: "no PEXPIRE by ACL", acl: "-pexpire"},
	{name: "no PTTL by ACL", acl: "-pttl"},
	{name: "no GET by ACL", acl: "-get"},
	{name: "no reading by ACL", acl: "resetkeys %W~*"},
	{name: "no DEL by ACL, with fencing", acl: "-del", fence: true},
	{name: "no PEXPIRE by ACL, with the guard", acl: "-pexpire", guard: true},
}

// A server that forbids what extending and releasing need does not vote, from the first command on, and says what it must
// allow. Nothing is set there.
func TestForbiddenCommands(t *testing.T) {
	for _, c := range forbidding {
		t.Run(c.name, func(t *testing.T) {
			server := redisserver.Start(t, c.args...)
			admin := newClient(t, server.Addr, nil)
			ctx := context.Background()
			node := newNode(t, newClient(t, server.Addr, func(o *redis.Options) {
				if c.acl != "" {
					o.Username, o.Password = "locks", "secret"
				}
			}))
			if c.acl != "" {
				user := append([]any{"acl", "setuser", "locks", "on", ">secret", "~*", "&*", "+@all"}, words(c.acl)...)
				if err := admin.Do(ctx, user...).Err(); err != nil {
					t.Fatal(err)
				}
			}
			options := []redlock.Option{redlock.WithNodeTimeout(patience)}
			if c.fence {
				options = append(options, redlock.WithFencing(redlock.Fencing{}))
			}
			client, err := redlock.New([]driver.Node{node}, options...)
			if c.guard {
				client, err = redlock.New([]driver.Node{node}, append(options, redlock.WithRestartGuard(redlock.Guard{MaxTTL: time.Minute}))...)
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.guard {
				if err := client.PrepareGuard(ctx); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				lease, err := client.TryLock(ctx, "r", time.Minute)
				if lease != nil || !errors.Is(err, redlock.ErrNoQuorum) || !errors.Is(err, goredis.ErrCommands) || !strings.Contains(err.Error(), "EVAL, EVALSHA, SET") {
					t.Fatalf("lease %v, error %v", lease, err)
				}
			}
			closeWithin(t, patience, client)
			if n := admin.Exists(ctx, "r").Val(); n != 0 {
				t.Error("the key is set")
			}
		})
	}
}

func words(text string) (all []any) {
	for _, w := range strings.Fields(text) {
		all = append(all, w)
	}
	return all
}

// A server that changes its mind loses its vote with the first command that it forbids, and has it back when it allows all
// again.
func TestCommandsForbiddenLater(t *testing.T) {
	server := redisserver.Start(t)
	admin := newClient(t, server.Addr, nil)
	ctx := context.Background()
	allow := func(rules string) {
		t.Helper()
		if err := admin.Do(ctx, append([]any{"acl", "setuser", "default"}, words(rules)...)...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	forbidPlain(t, admin)
	client, err := redlock.New([]driver.Node{newNode(t, newClient(t, server.Addr, nil))}, redlock.WithNodeTimeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	lease, err := client.TryLock(ctx, "r", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	allow("-eval -evalsha")
	if err := lease.Unlock(ctx); !errors.Is(err, goredis.ErrCommands) {
		t.Error(err)
	}
	if _, err := client.TryLock(ctx, "s", time.Minute); !errors.Is(err, goredis.ErrCommands) {
		t.Error(err)
	}
	if n := admin.Exists(ctx, "s").Val(); n != 0 {
		t.Error("the key is set")
	}
	allow("+eval +evalsha")
	lease, err = client.TryLock(ctx, "s", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Unlock(ctx); err != nil {
		t.Error(err)
	}
}

// Without EVALSHA scripts are sent in full.
func TestEvalshaForbidden(t *testing.T) {
	for _, args := range [][]string{{"--rename-command", "EVALSHA", ""}, nil} {
		server := redisserver.Start(t, args...)
		if args == nil {
			if err := newClient(t, server.Addr, nil).Do(context.Background(), "acl", "setuser", "default", "-evalsha").Err(); err != nil {
				t.Fatal(err)
			}
		}
		client, err := redlock.New([]driver.Node{newNode(t, newClient(t, server.Addr, nil))}, redlock.WithNodeTimeout(patience))
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			lease, err := client.TryLock(t.Context(), "r", time.Minute)
			if err == nil {
				err = errors.Join(lease.Extend(t.Context(), time.Minute), lease.Unlock(t.Context()))
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
}
