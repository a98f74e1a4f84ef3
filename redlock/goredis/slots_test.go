//go:build unix

package goredis_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock/single"
)

// Releases for one primary of a cluster that go together have keys of several slots. They are never joined.
func TestManySlots(t *testing.T) {
	member, _ := redisserver.StartMember(t)
	member.Ask("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
	eventually(t, patience, "the cluster is whole", func() bool { return strings.Contains(member.Ask("CLUSTER", "INFO"), "cluster_state:ok") })
	c := clustered([]*redisserver.Server{member}, 0).client(t, single.Failover{Waived: true})
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for j := range 10 {
				lease, err := c.Lock(t.Context(), fmt.Sprintf("invoices/%d/%d", i, j), time.Minute)
				if err != nil {
					t.Error(err)
					return
				}
				if err := lease.Unlock(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := member.Ask("DBSIZE"); n != "0" {
		t.Errorf("%s locks are kept", n)
	}
	if stats := member.Ask("INFO", "errorstats"); strings.Contains(stats, "CROSSSLOT") {
		t.Errorf("the server was asked for keys of several slots: %s", stats)
	}
}
