//go:build unix

package rueidis_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	client "github.com/redis/rueidis"

	"redlocksim/redlock/rueidis"
)

func TestOpen(t *testing.T) {
	a, b := miniredis.RunT(t), miniredis.RunT(t)
	b.RequireUserAuth("u", "secret")
	nodes, err := rueidis.Open(a.Addr(), "redis://u:secret@"+b.Addr()+"?db=2&dial_timeout=2s&write_timeout=2s&protocol=2&client_name=locks")
	if err != nil {
		t.Fatal(err)
	}
	for i, addr := range []string{a.Addr(), b.Addr()} {
		if nodes[i].Name() != addr {
			t.Errorf("name %q, want %q", nodes[i].Name(), addr)
		}
		accepted(t, nodes[i], "acquire k")
	}
	b.Select(2)
	if !b.Exists("k") {
		t.Error("the database in the URL was not used")
	}
	if err := nodes.Close(); err != nil {
		t.Error(err)
	}
	for _, test := range []struct {
		servers []string
		want    string
	}{
		{[]string{""}, "rueidis: server 1: the address is empty"},
		{[]string{"h:1", "redis://h:1"}, "rueidis: server 2: h:1 is named twice, and one server has one vote"},
		{[]string{"localhost", "redis://127.0.0.1"}, "rueidis: server 2: 127.0.0.1:6379 is the same server as localhost:6379, and one server has one vote"},
		{[]string{"h:1", "redis://u:secret@h:x"}, `rueidis: server 2: invalid port ":x" after host`},
		{[]string{"http://u:secret@h:1"}, "rueidis: server 1: redis: invalid URL scheme: http"},
		{[]string{"redis://h?timeout=1s&db=1&max_retries=3"}, `rueidis: server 1: parameters of the URL would have no effect, leave them out: ["max_retries" "timeout"]`},
		{[]string{"redis://h?skip_verify=true"}, `rueidis: server 1: parameters of the URL would have no effect, leave them out: ["skip_verify"]`},
		{[]string{"redis://h?client_cache=1"}, `rueidis: server 1: parameters of the URL would have no effect, leave them out: ["client_cache"]`},
	} {
		nodes, err := rueidis.Open(test.servers...)
		if nodes != nil || err == nil || err.Error() != test.want {
			t.Errorf("%q: nodes %v, error %v", test.servers, nodes, err)
		}
	}
}

func TestOptionsRefused(t *testing.T) {
	for want, change := range map[string]func(*client.ClientOption){
		"": func(*client.ClientOption) {},
		"InitAddress: one address, or a key has no majority; make one node for each master": func(o *client.ClientOption) { o.InitAddress = append(o.InitAddress, "h:2") },
		"no Sentinel.MasterSet": func(o *client.ClientOption) { o.Sentinel.MasterSet = "m" },
		"no Standalone":         func(o *client.ClientOption) { o.Standalone.EnableRedirect = true },
		"no ReplicaOnly":        func(o *client.ClientOption) { o.SendToReplicas = func(client.Completed) bool { return true } },
		"no ConnLifetime":       func(o *client.ClientOption) { o.ConnLifetime = time.Hour },
	} {
		o := client.ClientOption{InitAddress: []string{"h:1"}}
		change(&o)
		node, err := rueidis.NewNode(o, rueidis.Name("ours"))
		if want == "" {
			if err != nil || node.Name() != "ours" || node.Close() != nil {
				t.Errorf("suitable options: %v", err)
			}
			continue
		}
		if node != nil || !errors.Is(err, rueidis.ErrOptions) || !strings.HasPrefix(err.Error(), "rueidis: the options do not suit a lock: "+want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
