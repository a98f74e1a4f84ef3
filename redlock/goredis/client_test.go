//go:build unix

package goredis_test

import (
	"crypto/tls"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
)

const (
	wantContext = "ContextTimeoutEnabled: true, or a deadline never reaches the connection"
	wantRetries = "MaxRetries: -1, or a lost reply makes SET NX answer no to its own value"
	wantRead    = "ReadTimeout: -1, for the command's deadline to be the only one"
	wantWrite   = "WriteTimeout: -1, for the command's deadline to be the only one"
	wantDialer  = "DialerRetries: 1, or a refused connection is tried again until the deadline"
	wantRESP2   = "Protocol: 2, or go-redis may follow a notification to another server"
)

func TestOptionsRefused(t *testing.T) {
	suitable := redis.Options{Addr: "10.0.0.1:6379", ContextTimeoutEnabled: true, MaxRetries: -1, ReadTimeout: -1,
		WriteTimeout: -1, DialerRetries: 1, Protocol: 2}
	tests := []struct {
		name   string
		change func(*redis.Options)
		want   []string
	}{
		{"suitable", func(*redis.Options) {}, nil},
		{"defaults", func(o *redis.Options) { *o = redis.Options{Addr: o.Addr} },
			[]string{wantContext, wantRetries, wantRead, wantWrite, wantDialer, wantRESP2}},
		{"no context timeout", func(o *redis.Options) { o.ContextTimeoutEnabled = false }, []string{wantContext}},
		{"default retries", func(o *redis.Options) { o.MaxRetries = 0 }, []string{wantRetries}},
		{"one retry", func(o *redis.Options) { o.MaxRetries = 1 }, []string{wantRetries}},
		{"read timeout", func(o *redis.Options) { o.ReadTimeout = time.Second }, []string{wantRead}},
		{"no read deadlines", func(o *redis.Options) { o.ReadTimeout = -2 }, []string{wantRead}},
		{"default write timeout", func(o *redis.Options) { o.WriteTimeout = 0 }, nil}, // it follows ReadTimeout
		{"no write deadlines", func(o *redis.Options) { o.WriteTimeout = -2 }, []string{wantWrite}},
		{"default dialer retries", func(o *redis.Options) { o.DialerRetries = 0 }, []string{wantDialer}},
		{"RESP3", func(o *redis.Options) { o.Protocol = 3 }, []string{wantRESP2}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := suitable
			test.change(&o)
			client := redis.NewClient(&o)
			defer client.Close()
			node, err := goredis.NewNode(client)
			if test.want == nil {
				if err != nil || node.Name() != "10.0.0.1:6379" {
					t.Errorf("node %v, error %v", node, err)
				}
				return
			}
			var problems *goredis.OptionsError
			if !errors.Is(err, goredis.ErrOptions) || !errors.As(err, &problems) {
				t.Fatalf("error %T %v", err, err)
			}
			if !reflect.DeepEqual(problems.Problems, test.want) {
				t.Errorf("problems %q, want %q", problems.Problems, test.want)
			}
			text := "goredis: the client's options do not suit a lock: client for 10.0.0.1:6379: set " +
				strings.Join(test.want, "; ") + " (goredis.NewClient sets all it needs)"
			if err.Error() != text {
				t.Errorf("error\n%v, want\n%v", err, text)
			}
		})
	}
}

func TestNewClient(t *testing.T) {
	given := &redis.Options{Addr: "10.0.0.1:6379", Username: "u", Password: "p", DB: 3, TLSConfig: &tls.Config{ServerName: "s"},
		PoolSize: 7, ClientName: "locks", DialTimeout: 3 * time.Second, PipelinePoolSize: 5}
	before := *given
	client := goredis.NewClient(given)
	defer client.Close()
	if !reflect.DeepEqual(*given, before) {
		t.Error("the caller's options were changed")
	}
	o := client.Options()
	if o.Addr != given.Addr || o.Username != "u" || o.Password != "p" || o.DB != 3 || o.TLSConfig.ServerName != "s" ||
		o.PoolSize != 7 || o.ClientName != "locks" || o.DialTimeout != 3*time.Second || o.PipelinePoolSize != 5 {
		t.Errorf("not kept: %+v", o)
	}
	if _, err := goredis.NewNode(client); err != nil {
		t.Error(err)
	}

	plain := goredis.NewClient(&redis.Options{})
	defer plain.Close()
	if o := plain.Options(); o.DialTimeout != time.Second || o.PipelinePoolSize != -1 || !o.DisableIdentity ||
		o.MaintNotificationsConfig.Mode != maintnotifications.ModeDisabled {
		t.Errorf("not chosen: %+v", o)
	}
}

// stranger is a client that is none of go-redis'.
type stranger struct{ redis.UniversalClient }

func TestClientsRefused(t *testing.T) {
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "127.0.0.1:1"}, HeartbeatFrequency: time.Hour})
	failover := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "m", SentinelAddrs: []string{"127.0.0.1:1"}})
	plain := goredis.NewClient(&redis.Options{})
	pipeliner, err := plain.AutoPipeline()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, c := range []redis.UniversalClient{cluster, ring, failover, plain} {
			_ = c.Close()
		}
	}()
	const start = "goredis: not a client of one independent master: "
	for _, test := range []struct {
		name   string
		client redis.UniversalClient
		want   string
	}{
		{"cluster", cluster, "a cluster client counts as one server and repeats commands while it follows redirects; " +
			"make one goredis.NewClient for each independent master, or take a lock on one logical Redis with package single"},
		{"ring", ring, "a ring sends each key to one of its servers, so no key has a majority; " +
			"make one goredis.NewClient for each of them"},
		{"sentinel", failover, "a Sentinel client moves to a replica, which may not have the lock; " +
			"make one goredis.NewClient for each master, or take a lock on one logical Redis with package single"},
		{"autopipeline", pipeliner, "a *redis.AutoPipeliner may repeat or delay commands in ways that cannot be checked; " +
			"use goredis.NewClient"},
		{"unknown", stranger{plain}, "a goredis_test.stranger may repeat or delay commands in ways that cannot be checked; " +
			"use goredis.NewClient"},
		{"nil", nil, "the client is nil"},
		{"nil pointer", (*redis.Client)(nil), "the client is nil"},
		{"nil cluster", (*redis.ClusterClient)(nil), "a cluster client counts as one server and repeats commands while it " +
			"follows redirects; make one goredis.NewClient for each independent master, or take a lock on one logical Redis with package single"},
	} {
		node, err := goredis.NewNode(test.client)
		if node != nil || !errors.Is(err, goredis.ErrClient) || err.Error() != start+test.want {
			t.Errorf("%s: node %v, error %v", test.name, node, err)
		}
	}
}

func TestOpen(t *testing.T) {
	a, b := miniredis.RunT(t), miniredis.RunT(t)
	b.RequireUserAuth("u", "secret")
	nodes, err := goredis.Open(a.Addr(), "redis://u:secret@"+b.Addr()+"?db=2&dial_timeout=2s&pool_size=3")
	if err != nil {
		t.Fatal(err)
	}
	for i, addr := range []string{a.Addr(), b.Addr()} {
		if nodes[i].Name() != addr {
			t.Errorf("name %q, want %q", nodes[i].Name(), addr)
		}
		if r := do(t, nodes[i], command(t, "acquire k", ttl))[0]; r.Outcome != driver.Accepted {
			t.Errorf("node %d: %v", i, r)
		}
	}
	b.Select(2)
	if !b.Exists("k") {
		t.Error("the database in the URL was not used")
	}
	if err := nodes.Close(); err != nil {
		t.Error(err)
	}
	if r := do(t, nodes[0], command(t, "acquire k", ttl))[0]; !errors.Is(r.Err, redis.ErrClosed) {
		t.Errorf("after Close: %v", r)
	}

	for _, test := range []struct {
		servers []string
		want    string
	}{
		{[]string{""}, "goredis: server 1: the address is empty"},
		{[]string{"h:1", "redis://h:1"}, "goredis: server 2: h:1 is named twice, and one server has one vote"},
		{[]string{"localhost:7000", "127.0.0.1:7000"}, "goredis: server 2: 127.0.0.1:7000 is the same server as localhost:7000, and one server has one vote"},
		{[]string{"h:1", "redis://u:secret@h:x"}, `goredis: server 2: invalid port ":x" after host`},
		{[]string{"http://u:secret@h:1"}, "goredis: server 1: redis: invalid URL scheme: http"},
		{[]string{"h:1", "redis://h:2?protocol=3&db=1&max_retries=3"}, `goredis: server 2: parameters of the URL would have no effect, leave them out: ["max_retries" "protocol"]`},
		{[]string{"unix:///s?min_retry_backoff=1s&max_retry_backoff=1s"}, `goredis: server 1: parameters of the URL would have no effect, leave them out: ["max_retry_backoff" "min_retry_backoff"]`},
		{[]string{"redis://h?read_timeout=1&write_timeout=1"}, `goredis: server 1: parameters of the URL would have no effect, leave them out: ["read_timeout" "write_timeout"]`},
		{[]string{"redis://h?retries=1"}, "goredis: server 1: redis: unexpected option: retries"},
	} {
		nodes, err := goredis.Open(test.servers...)
		if nodes != nil || err == nil || err.Error() != test.want {
			t.Errorf("%q: nodes %v, error %v", test.servers, nodes, err)
		}
	}
}

// Spellings of one address are one server. Addresses that differ are not, nor are names.
func TestSameServer(t *testing.T) {
	for _, c := range []struct {
		one, other string
		same       bool
	}{
		{"localhost:6379", "127.0.0.1:6379", true},
		{"localhost:6379", "[::1]:6379", true},
		{"localhost:6379", "LOCALHOST.:6379", true},
		{"localhost", "localhost:6379", true},
		{"127.0.0.1", "redis://localhost", true},
		{"::1", "[::1]:6379", true},
		{":6379", "0.0.0.0:6379", true},
		{"[::]:6379", "localhost:6379", true},
		{"Redis-1.example:6379", "redis://u:p@redis-1.example.:6379/2", true},
		{"redis-1.example", "rediss://redis-1.example:6379", true},
		{"10.0.0.1:6379", "[::ffff:10.0.0.1]:6379", true},
		{"[2001:db8::1]:6379", "[2001:0db8:0:0::1]:06379", true},
		{"unix:///run/redis.sock", "unix:///run/../run/redis.sock", true},

		{"localhost:6379", "localhost:6380", false},
		{"127.0.0.1:6379", "127.0.0.2:6379", false},
		{"10.0.0.1:6379", "10.0.0.2:6379", false},
		{"redis-1:6379", "redis-2:6379", false},
		{"[fe80::1%eth0]:6379", "[fe80::1%eth1]:6379", false},
		{"unix:///run/redis-1.sock", "unix:///run/redis-2.sock", false},
	} {
		nodes, err := goredis.Open(c.one, c.other)
		if (err != nil) != c.same {
			t.Errorf("%s and %s: %v", c.one, c.other, err)
		}
		_ = nodes.Close()
	}
	nodes, err := goredis.Open("10.0.0.1", "::2", "h")
	if err != nil || nodes[0].Name() != "10.0.0.1:6379" || nodes[1].Name() != "[::2]:6379" || nodes[2].Name() != "h:6379" {
		t.Errorf("nodes %v, %v", nodes, err)
	}
	_ = nodes.Close()
}

// A lock on one logical Redis refuses clients that repeat commands, and says what to make instead.
func TestSingleClientsRefused(t *testing.T) {
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"10.0.0.1:6379"}})
	failover := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "m", SentinelAddrs: []string{"10.0.0.1:26379"}})
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "10.0.0.1:6379"}})
	defer func() { _, _, _ = cluster.Close(), failover.Close(), ring.Close() }()
	for _, test := range []struct {
		name   string
		client redis.UniversalClient
		is     error
		want   string
	}{
		{"cluster", cluster, goredis.ErrClient, "make it with goredis.NewClusterClient"},
		{"sentinel", failover, goredis.ErrOptions, "set ContextTimeoutEnabled: true"},
		{"ring", ring, goredis.ErrClient, "a *redis.Ring may repeat or delay commands"},
		{"nil", nil, goredis.ErrClient, "the client is nil"},
		{"nil pointer", (*redis.Client)(nil), goredis.ErrClient, "the client is nil"},
		{"nil cluster", (*redis.ClusterClient)(nil), goredis.ErrClient, "the client is nil"},
	} {
		node, err := goredis.NewSingle(test.client)
		if node != nil || !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, error %v", test.name, node, err)
		}
	}
	for name, client := range map[string]redis.UniversalClient{
		"plain":    goredis.NewClient(&redis.Options{Addr: "10.0.0.1:6379"}),
		"sentinel": goredis.NewSentinelClient(&redis.FailoverOptions{MasterName: "m", SentinelAddrs: []string{"10.0.0.1:26379"}}),
		"cluster":  goredis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"10.0.0.1:6379"}}),
	} {
		if node, err := goredis.NewSingle(client, goredis.Name("ours")); err != nil || node.Node().Name() != "ours" {
			t.Errorf("%s: %v, %v", name, node, err)
		}
		_ = client.Close()
	}
}
