package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

// The nodes live in this process here; those of a program come from redlocksim/redlock/goredis.
func Example() {
	nodes := []driver.Node{newMemory("a", 0), newMemory("b", 0), newMemory("c", 0)}
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

// Work of unknown length is done under a lock that is renewed, and that others can take soon after its holder has died. The
// lock is waited for for 5 s at the most, which does not bound the work.
func ExampleClient_Hold() {
	client, err := redlock.New([]driver.Node{newMemory("a", 0), newMemory("b", 0), newMemory("c", 0)})
	if err != nil {
		panic(err)
	}
	err = client.Hold(context.Background(), "invoices/2026-11", 10*time.Second, redlock.Renewal{Wait: 5 * time.Second, MaxTime: 10 * time.Minute},
		func(ctx context.Context, lease *redlock.Lease) error {
			for invoice := range 3 {
				if ctx.Err() != nil { // the lock is about to be lost
					return context.Cause(ctx)
				}
				fmt.Println("invoice", invoice, "under", lease.Resource())
			}
			return nil
		})
	fmt.Println(err)

	// Output:
	// invoice 0 under invoices/2026-11
	// invoice 1 under invoices/2026-11
	// invoice 2 under invoices/2026-11
	// <nil>
}

// A lock is not taken twice: what is called under it is given the lease.
func ExampleLease() {
	client, err := redlock.New([]driver.Node{newMemory("a", 0), newMemory("b", 0), newMemory("c", 0)})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()

	debit := func(lease *redlock.Lease, amount int) { fmt.Println("debit", amount, "under", lease.Resource()) }
	transfer := func(lease *redlock.Lease) {
		debit(lease, 10)
		debit(lease, 20)
	}

	lease, err := client.LockAll(ctx, []string{"account/2", "account/1"}, 10*time.Second)
	if err != nil {
		panic(err)
	}
	defer func() { _ = lease.Unlock(ctx) }()
	transfer(lease)

	// Output:
	// debit 10 under account/1, account/2
	// debit 20 under account/1, account/2
}
