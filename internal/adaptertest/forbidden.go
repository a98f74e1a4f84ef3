//go:build unix

package adaptertest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock"
)

// forbidding are servers that allow SET, and not all that extending and releasing need.
var forbidding = []struct {
	name    string
	args    []string
	acl     string // of the user, over all that is allowed
	options []redlock.Option
	guard   bool // these have the restart guard
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
	{name: "no DEL by ACL, with fencing", acl: "-del", options: []redlock.Option{redlock.WithFencing(redlock.Fencing{})}},
	{name: "no PEXPIRE by ACL, with the guard", acl: "-pexpire", guard: true,
		options: []redlock.Option{redlock.WithRestartGuard(redlock.Guard{MaxTTL: time.Minute})}},
}

// A server that forbids what extending and releasing need does not vote, from the first command on, and says what it must
// allow. Nothing is set there.
func forbiddenCommands(t *testing.T, a Adapter) {
	for _, c := range forbidding {
		t.Run(c.name, func(t *testing.T) {
			server := redisserver.Start(t, c.args...)
			admin := Admin(t, server.Addr)
			ctx := context.Background()
			var config Config
			if c.acl != "" {
				config.Username, config.Password = "locks", "secret"
			}
			if c.acl != "" {
				user := append([]any{"acl", "setuser", "locks", "on", ">secret", "~*", "&*", "+@all"}, words(c.acl)...)
				if err := admin.Do(ctx, user...).Err(); err != nil {
					t.Fatal(err)
				}
			}
			client := a.one(t, server.Addr, config, c.options...)
			if c.guard {
				if err := client.PrepareGuard(ctx); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				lease, err := client.TryLock(ctx, "r", time.Minute)
				if lease != nil || !errors.Is(err, redlock.ErrNoQuorum) || !errors.Is(err, a.ErrCommands) || !strings.Contains(err.Error(), "EVAL, EVALSHA, SET") {
					t.Fatalf("lease %v, error %v", lease, err)
				}
			}
			CloseWithin(t, Patience, client)
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
func commandsForbiddenLater(t *testing.T, a Adapter) {
	server := redisserver.Start(t)
	admin := Admin(t, server.Addr)
	ctx := context.Background()
	allow := func(rules string) {
		t.Helper()
		if err := admin.Do(ctx, append([]any{"acl", "setuser", "default"}, words(rules)...)...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	ForbidPlain(t, admin)
	client := a.one(t, server.Addr, Config{})
	lease, err := client.TryLock(ctx, "r", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	allow("-eval -evalsha")
	if err := lease.Unlock(ctx); !errors.Is(err, a.ErrCommands) {
		t.Error(err)
	}
	if _, err := client.TryLock(ctx, "s", time.Minute); !errors.Is(err, a.ErrCommands) {
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
func evalshaForbidden(t *testing.T, a Adapter) {
	for _, args := range [][]string{{"--rename-command", "EVALSHA", ""}, nil} {
		server := redisserver.Start(t, args...)
		if args == nil {
			if err := Admin(t, server.Addr).Do(context.Background(), "acl", "setuser", "default", "-evalsha").Err(); err != nil {
				t.Fatal(err)
			}
		}
		client := a.one(t, server.Addr, Config{})
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
