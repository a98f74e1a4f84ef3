//go:build unix

package goredis_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock"
	"redlocksim/redlock/goredis"
)

var updateServers = flag.Bool("update-servers", false, "write the table in docs/servers.md")

// condition of a server, in which a client asks it alone. The lock that is extended and released was taken before; where
// a server begins in the condition there is none.
type serverCondition struct {
	name   string
	is     string // how to recognise the error
	found  func(error) bool
	args   []string
	fresh  bool // no lock is taken before
	client func(*redis.Options)
	enter  func(t *testing.T, admin *redis.Client)
}

func admit(args ...any) func(*testing.T, *redis.Client) {
	return func(t *testing.T, admin *redis.Client) {
		t.Helper()
		if err := admin.Do(context.Background(), args...).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func saying(text string) func(error) bool {
	return func(err error) bool { return strings.Contains(err.Error(), text) }
}

var serverConditions = []serverCondition{
	{name: "healthy"},
	{name: "no credentials (NOAUTH)", is: "text `NOAUTH`", found: saying("NOAUTH"), fresh: true, enter: admit("config", "set", "requirepass", "secret")},
	{name: "wrong credentials (WRONGPASS)", is: "text `WRONGPASS`", found: saying("WRONGPASS"), fresh: true, enter: admit("config", "set", "requirepass", "secret"),
		client: func(o *redis.Options) { o.Username, o.Password = "default", "guess" }},
	{name: "EVAL forbidden by an ACL (NOPERM)", is: "`goredis.ErrCommands`", found: is(goredis.ErrCommands), fresh: true, enter: admit("acl", "setuser", "default", "-eval", "-evalsha")},
	{name: "EVAL forbidden while in use", is: "`goredis.ErrCommands`", found: is(goredis.ErrCommands), enter: admit("acl", "setuser", "default", "-eval", "-evalsha")},
	{name: "EVAL renamed", is: "`goredis.ErrCommands`", found: is(goredis.ErrCommands), args: []string{"--rename-command", "EVAL", "", "--rename-command", "EVALSHA", ""}},
	{name: "a script runs for too long (BUSY)", is: "text `BUSY`", found: saying("BUSY"), args: []string{"--busy-reply-threshold", "1"},
		enter: func(t *testing.T, admin *redis.Client) {
			busy := newClient(t, admin.Options().Addr, nil)
			go func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				_ = busy.Eval(ctx, "while true do end", nil).Err()
			}()
			eventually(t, patience, "the server is busy", func() bool {
				return strings.Contains(fmt.Sprint(admin.Ping(context.Background()).Err()), "BUSY")
			})
			t.Cleanup(func() { _ = admin.ScriptKill(context.Background()) })
		}},
	{name: "out of memory (OOM)", is: "text `OOM`", found: saying("OOM"), enter: admit("config", "set", "maxmemory", "1")},
	{name: "cannot save (MISCONF)", is: "text `MISCONF`", found: saying("MISCONF"), enter: func(t *testing.T, admin *redis.Client) {
		ctx := context.Background()
		dir := admin.ConfigGet(ctx, "dir").Val()["dir"]
		if err := os.Mkdir(dir+"/dump.rdb", 0o777); err != nil { // it cannot be replaced
			t.Fatal(err)
		}
		admit("config", "set", "save", "3600 1")(t, admin)
		_ = admin.BgSave(ctx).Err()
		eventually(t, patience, "saving has failed", func() bool {
			return strings.Contains(admin.Info(ctx, "persistence").Val(), "rdb_last_bgsave_status:err")
		})
	}},
	{name: "a replica (READONLY)", is: "`redis.IsReadOnlyError`", found: redis.IsReadOnlyError, enter: admit("replicaof", "127.0.0.1", "1")},
	{name: "Redis Cluster without slots (CLUSTERDOWN)", is: "`redis.IsClusterDownError`", found: redis.IsClusterDownError, args: []string{"--cluster-enabled", "yes"}},
}

// What Lock, Extend and Unlock answer for a server in each condition, and how the error is recognised, is the table in
// docs/servers.md.
func TestServers(t *testing.T) {
	const path, begin, end = "../../docs/servers.md", "<!-- begin table -->\n", "<!-- end table -->\n"
	rows := "| server | `Lock` | `Extend` | `Unlock` | the error, by `errors.Is`, `redis.Is…` or its text |\n| --- | --- | --- | --- | --- |\n"
	for _, c := range serverConditions {
		t.Run(c.name, func(t *testing.T) { rows += c.row(t) })
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), begin)
	table, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("%s has no table", path)
	}
	if *updateServers {
		if err := os.WriteFile(path, []byte(before+begin+rows+end+after), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if table != rows {
		t.Errorf("the table is\n%s\nand was\n%s\n(go test ./redlock/goredis -run TestServers -update-servers writes it)", rows, table)
	}
}

func (c serverCondition) row(t *testing.T) string {
	server := redisserver.Start(t, c.args...)
	admin := newClient(t, server.Addr, nil)
	client, err := redlock.New([]redlock.Node{newNode(t, newClient(t, server.Addr, c.client))}, redlock.WithNodeTimeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	var extended, released *redlock.Lease
	if !c.fresh && (c.args == nil || c.enter != nil) {
		for resource, lease := range map[string]**redlock.Lease{"extended": &extended, "released": &released} {
			if *lease, err = client.TryLock(t.Context(), resource, time.Minute); err != nil {
				t.Fatal(err)
			}
		}
	}
	if c.enter != nil {
		c.enter(t, admin)
	}
	_, locking := client.TryLock(t.Context(), "r", time.Minute)
	cells := []string{c.name, c.cell(t, locking)}
	if extended == nil {
		cells = append(cells, "–", "–")
	} else {
		cells = append(cells, c.cell(t, extended.Extend(t.Context(), time.Minute)), c.cell(t, released.Unlock(t.Context())))
	}
	return "| " + strings.Join(append(cells, c.is), " | ") + " |\n"
}

// cell is what came of a call: its reason, and whether the condition was recognised in the error.
func (c serverCondition) cell(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return "ok"
	}
	if c.found == nil || !c.found(err) {
		t.Errorf("not recognised: %v", err)
	}
	for name, reason := range map[string]error{"ErrNoQuorum": redlock.ErrNoQuorum, "ErrTaken": redlock.ErrTaken, "ErrLost": redlock.ErrLost} {
		if errors.Is(err, reason) {
			return "`" + name + "`"
		}
	}
	t.Errorf("no reason: %v", err)
	return err.Error()
}
