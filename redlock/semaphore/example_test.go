package semaphore_test

import (
	"context"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"

	"redlocksim/redlock"
	"redlocksim/redlock/goredis"
	"redlocksim/redlock/semaphore"
)

// A semaphore is a read-write lock: up to eight read at a time, or one writes.
func ExampleSemaphore_HoldAll() {
	server, err := miniredis.Run() // in the place of your nodes
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	nodes, err := goredis.Open(server.Addr())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer nodes.Close()
	client, err := redlock.New(nodes)
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := semaphore.New(client, "report", 8)
	if err != nil {
		fmt.Println(err)
		return
	}
	text := "a draft"

	ctx, ttl := context.Background(), 10*time.Second
	err = report.HoldAll(ctx, ttl, redlock.Renewal{Wait: time.Minute}, func(ctx context.Context, _ *redlock.Lease) error {
		_, taken := report.TryAcquire(ctx, ttl)
		fmt.Println("a reader:", taken)
		text = "a report"
		return ctx.Err()
	})
	fmt.Println("the writer:", err)
	err = report.Hold(ctx, ttl, redlock.Renewal{}, func(ctx context.Context, _ *semaphore.Permit) error {
		fmt.Println("a reader:", text)
		return ctx.Err()
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// a reader: redlock: acquire "report": held by another
	// the writer: <nil>
	// a reader: a report
}
