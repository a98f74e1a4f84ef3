package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redlocksim/redlock"
)

// The nodes live in this process here; those of a program come from redlocksim/redlock/goredis.
func Example() {
	nodes := []redlock.Node{newMemory("a", 0), newMemory("b", 0), newMemory("c", 0)}
	client, err := redlock.New(nodes)
	if err != nil {
		panic(err)
	}
	ctx := context.Background()

	lease, err := client.Lock(ctx, "invoices/2026-11", 10*time.Second)
	if err != nil {
		panic(err)
	}
	fmt.Println("locked", lease.Resource())

	_, err = client.TryLock(ctx, "invoices/2026-11", 10*time.Second)
	fmt.Println(errors.Is(err, redlock.ErrTaken), err)

	fmt.Println("extend:", lease.Extend(ctx, 20*time.Second))
	fmt.Println("unlock:", lease.Unlock(ctx))
	fmt.Println("the context of the lease:", context.Cause(lease.Context()))
	fmt.Println("once more:", lease.Unlock(ctx))

	// Output:
	// locked invoices/2026-11
	// true redlock: acquire "invoices/2026-11": held by another (a held by another; b held by another; c unanswered)
	// extend: <nil>
	// unlock: <nil>
	// the context of the lease: lease released
	// once more: redlock: release "invoices/2026-11": lease released
}
