//go:build unix && !race

package goredis_test

import (
	"fmt"
	"testing"
	"time"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock"
	"redlocksim/redlock/goredis"
)

// A lock that is taken and released on five servers, while nothing else goes on, costs about 99 allocations. One more for
// each command, as when a message does not stay on the stack, is ten more. Each is of another resource than the one before,
// whose release may still be on its way to the slowest servers.
func TestAllocations(t *testing.T) {
	var addrs []string
	for range 5 {
		addrs = append(addrs, redisserver.Start(t).Addr)
	}
	nodes, err := goredis.Open(addrs...)
	if err != nil {
		t.Fatal(err)
	}
	defer nodes.Close()
	client, err := redlock.New(nodes, redlock.WithNodeTimeout(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(t.Context())
	var resources [16]string
	for i := range resources {
		resources[i] = fmt.Sprint("r", i)
	}
	cycles := 0
	cycle := func() {
		cycles++
		lease, err := client.Lock(t.Context(), resources[cycles%len(resources)], time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := lease.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 { // connections, and scripts that are sent in full
		cycle()
	}
	if n := testing.AllocsPerRun(500, cycle); n > 104 {
		t.Errorf("%v allocations", n)
	} else {
		t.Logf("%v allocations", n)
	}
}
