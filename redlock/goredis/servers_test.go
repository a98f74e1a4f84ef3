//go:build unix

package goredis_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
)

var updateServers = flag.Bool("update-servers", false, "write the table in docs/servers.md")

// condition of a server, in which a client asks it alone. The lock that is extended and released was taken before; where
// a server begins in the condition there is none.
type serverCondition struct {
	name     string
	is       string // how to recognise the error
	found    func(error) bool
	args     []string
	isMember bool                                    // of a cluster
	fresh    bool                                    // no lock is taken before
	ready    func(t *testing.T, admin *redis.Client) // before the client connects
	client   func(*redis.Options)
	enter    func(t *testing.T, admin *redis.Client)
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
	{name: "EVAL forbidden while in use", is: "`goredis.ErrCommands`", found: is(goredis.ErrCommands), enter: func(t *testing.T, admin *redis.Client) {
		forbidPlain(t, admin) // by which a lock would be released
		admit("acl", "setuser", "default", "-eval", "-evalsha")(t, admin)
	}},
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
	{name: "reads its data in (LOADING)", is: "text `LOADING`", found: saying("LOADING"), args: []string{"--enable-debug-command", "yes"}, enter: load},
	{name: "Redis Cluster without slots (CLUSTERDOWN)", is: "`redis.IsClusterDownError`", found: redis.IsClusterDownError, isMember: true, fresh: true},
	{name: "Redis Cluster, the slot is another's (MOVED)", is: "text `MOVED`", found: saying("MOVED"), isMember: true, fresh: true, enter: giveSlotsAway},
	encrypted("TLS", "", nil, true),
	encrypted("TLS, with a certificate that the client does not trust", "text `x509`", saying("x509"), false),
}

// load has the server read its own snapshot in, for 100 s. It answers between two keys, each of which fills more than what
// it reads between two looks at its connections.
func load(t *testing.T, admin *redis.Client) {
	ctx := context.Background()
	for i := range 1000 {
		if err := admin.Set(ctx, fmt.Sprint("ballast", i), strings.Repeat("-", 2048), 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	admit("config", "set", "rdbcompression", "no")(t, admin)
	admit("config", "set", "key-load-delay", "100000")(t, admin) // microseconds for each key
	admit("config", "set", "loading-process-events-interval-bytes", "1024")(t, admin)
	loader := newClient(t, admin.Options().Addr, nil)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		_ = loader.Do(ctx, "debug", "reload").Err()
	}()
	eventually(t, patience, "the server is loading", func() bool {
		return strings.Contains(fmt.Sprint(admin.Get(ctx, "r").Err()), "LOADING")
	})
}

// giveSlotsAway makes the server one of a cluster of two, and the other has all slots.
func giveSlotsAway(t *testing.T, admin *redis.Client) {
	ctx := context.Background()
	other, bus := redisserver.StartMember(t)
	owner := newClient(t, other.Addr, nil)
	admit("cluster", "addslotsrange", 0, 16383)(t, owner)
	host, port, _ := strings.Cut(other.Addr, ":")
	admit("cluster", "meet", host, port, bus)(t, admin)
	eventually(t, patience, "the servers know each other", func() bool {
		return strings.Contains(fmt.Sprint(admin.Get(ctx, "r").Err()), "MOVED")
	})
}

// What Lock, Extend and Unlock answer for a server in each condition, and how the error is recognised, is the table in
// docs/servers.md.
func TestServers(t *testing.T) {
	t.Parallel()
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
	var server *redisserver.Server
	if c.isMember {
		server, _ = redisserver.StartMember(t, c.args...)
	} else {
		server = redisserver.Start(t, c.args...)
	}
	admin := newClient(t, server.Addr, nil)
	if c.ready != nil {
		c.ready(t, admin)
	}
	client, err := redlock.New([]driver.Node{newNode(t, newClient(t, server.Addr, c.client))}, redlock.WithNodeTimeout(patience))
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

// encrypted is a server with a certificate that it has made itself, which the client trusts or not.
func encrypted(name, is string, found func(error) bool, trusted bool) serverCondition {
	var addr string
	trust := x509.NewCertPool()
	return serverCondition{name: name, is: is, found: found, fresh: !trusted,
		ready: func(t *testing.T, admin *redis.Client) {
			certificate, key := selfSigned(t)
			if trusted && !trust.AppendCertsFromPEM(certificate) {
				t.Fatal("no certificate")
			}
			dir := t.TempDir()
			for file, text := range map[string][]byte{"certificate": certificate, "key": key} {
				if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			admit("config", "set", "tls-auth-clients", "no", "tls-cert-file", filepath.Join(dir, "certificate"), "tls-key-file", filepath.Join(dir, "key"))(t, admin)
			eventually(t, patience, "the server listens for TLS", func() bool { // unless another process takes the port first
				free, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				addr = free.Addr().String()
				_ = free.Close()
				_, port, _ := strings.Cut(addr, ":")
				return admin.ConfigSet(context.Background(), "tls-port", port).Err() == nil
			})
		},
		client: func(o *redis.Options) {
			o.Addr, o.TLSConfig = addr, &tls.Config{RootCAs: trust, MinVersion: tls.VersionTLS12}
		},
	}
}

// selfSigned is a certificate for the loopback address, and its key.
func selfSigned(t *testing.T) (certificate, key []byte) {
	t.Helper()
	web := httptest.NewTLSServer(nil) // which has one
	defer web.Close()
	own := web.TLS.Certificates[0]
	raw, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate[0]}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
}
