package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"

	"redlocksim/redlock"
	"redlocksim/redlock/goredis"
)

// These are the programs that most users write. Their servers run in this process; yours have addresses.
func Example() {
	nodes, err := goredis.Open(newServers(3)...) // once in a program, as is the client
	if err != nil {
		panic(err)
	}
	defer nodes.Close()
	client, err := redlock.New(nodes)
	if err != nil {
		panic(err)
	}

	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // how long to wait for the lock
	defer cancel()
	lease, err := client.Lock(ctx, "invoices/2026-11", 10*time.Second)
	if err != nil {
		panic(err)
	}
	fmt.Println("locked", lease.Resource())
	fmt.Println("work may go on:", lease.Context().Err() == nil)
	fmt.Println("unlock:", lease.Unlock(context.Background()))
	fmt.Println("work may go on:", lease.Context().Err() == nil)

	// Output:
	// locked invoices/2026-11
	// work may go on: true
	// unlock: <nil>
	// work may go on: false
}

// TryLock makes one attempt. The error says why it failed, and what each node answered.
func ExampleClient_TryLock() {
	client := newClient()
	ctx := context.Background()
	if _, err := client.TryLock(ctx, "invoices/2026-11", 10*time.Second); err != nil {
		panic(err)
	}

	_, err := client.TryLock(ctx, "invoices/2026-11", 10*time.Second)
	fmt.Println("somebody has it:", errors.Is(err, redlock.ErrTaken))
	if denied := (*redlock.Error)(nil); errors.As(err, &denied) {
		for _, n := range denied.Nodes {
			switch n.Outcome {
			case redlock.TimedOut, redlock.Refused, redlock.Failed:
				fmt.Println("look after", n.Node, n.Err)
			}
		}
	}

	// Output:
	// somebody has it: true
}

// Hold renews the lease for as long as the work takes. The work's context ends when the lock is lost.
func ExampleClient_Hold() {
	client := newClient()
	work := func(ctx context.Context, lease *redlock.Lease) error {
		for invoice := range 3 {
			if ctx.Err() != nil {
				return context.Cause(ctx) // ErrLost: stop before somebody else begins
			}
			fmt.Println("invoice", invoice, "under", lease.Resource())
		}
		return nil
	}
	limits := redlock.Renewal{Wait: 5 * time.Second, MaxTime: 10 * time.Minute}
	fmt.Println(client.Hold(context.Background(), "invoices/2026-11", 10*time.Second, limits, work))

	// Output:
	// invoice 0 under invoices/2026-11
	// invoice 1 under invoices/2026-11
	// invoice 2 under invoices/2026-11
	// <nil>
}

// LockAll takes one lock on several resources, all or none. What is called under it is given the lease: a lock is not taken
// twice.
func ExampleClient_LockAll() {
	client := newClient()
	debit := func(lease *redlock.Lease, amount int) { fmt.Println("debit", amount, "under", lease.Resource()) }

	lease, err := client.LockAll(context.Background(), []string{"account/2", "account/1"}, 10*time.Second)
	if err != nil {
		panic(err)
	}
	defer lease.Unlock(context.Background())
	debit(lease, 10)
	debit(lease, 20)

	// Output:
	// debit 10 under account/1, account/2
	// debit 20 under account/1, account/2
}

// With fencing, storage can reject what a paused holder writes after the next one.
func ExampleWithFencing() {
	client := newClient(redlock.WithFencing(redlock.Fencing{}))
	var highest int64
	write := func(what string, token int64) {
		if token < highest {
			fmt.Println(what, "rejected")
			return
		}
		highest = token
		fmt.Println(what, "written")
	}
	lock := func() (*redlock.Lease, int64) {
		lease, err := client.Lock(context.Background(), "ledger", 10*time.Second)
		if err != nil {
			panic(err)
		}
		token, _ := lease.Token()
		return lease, token
	}

	paused, old := lock()
	_ = paused.Unlock(context.Background()) // or its lease ends
	_, fresh := lock()
	write("the second holder's entry", fresh)
	write("the first holder's late entry", old)

	// Output:
	// the second holder's entry written
	// the first holder's late entry rejected
}

// newClient makes a client over servers of its own. They share the machine with other tests, and may be slow to answer.
func newClient(options ...redlock.Option) *redlock.Client {
	nodes, err := goredis.Open(newServers(3)...)
	if err != nil {
		panic(err)
	}
	client, err := redlock.New(nodes, append([]redlock.Option{redlock.WithNodeTimeout(5 * time.Second)}, options...)...)
	if err != nil {
		panic(err)
	}
	return client
}

// newServers starts servers that end with the process.
func newServers(n int) (addresses []string) {
	for range n {
		server, err := miniredis.Run()
		if err != nil {
			panic(err)
		}
		addresses = append(addresses, server.Addr())
	}
	return addresses
}
