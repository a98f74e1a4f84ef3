//go:build unix

package goredis_test

import (
	"strings"
	"testing"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
)

// Releases for one primary of a cluster that go together have keys of several slots. They are never joined.
func TestManySlots(t *testing.T) {
	t.Parallel()
	member, _ := redisserver.StartMember(t)
	member.Ask("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
	eventually(t, patience, "the cluster is whole", func() bool { return strings.Contains(member.Ask("CLUSTER", "INFO"), "cluster_state:ok") })
	connection := clustered([]*redisserver.Server{member}, 0).connect()
	defer connection.Close()
	node, err := goredis.NewSingle(connection)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range []string{"acquire ", "release "} {
		for i, r := range do(t, node.Node(), command(t, op+"a", ttl), command(t, op+"b", ttl), command(t, op+"c", ttl)) {
			if r.Outcome != driver.Accepted {
				t.Errorf("%s%d: %v", op, i, r)
			}
		}
	}
	if stats := member.Ask("INFO", "errorstats"); strings.Contains(stats, "CROSSSLOT") {
		t.Errorf("the server was asked for keys of several slots: %s", stats)
	}
}
