package goredis_test

import (
	"context"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/goredis"
)

func ExampleOpen() {
	// The addresses of independent masters: no replicas of each other, no cluster.
	err := settle("10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379", "10.0.0.4:6379", "10.0.0.5:6379")
	if err != nil {
		panic(err)
	}
}

// settle does what only one process may do at a time.
func settle(servers ...string) error {
	nodes, err := goredis.Open(servers...) // once in the program, as is the client
	if err != nil {
		return err
	}
	defer nodes.Close()
	client, err := redlock.New(nodes)
	if err != nil {
		return err
	}
	defer client.Close(context.Background())

	patience, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	lease, err := client.Lock(patience, "invoices/2026-11", 10*time.Second)
	if err != nil {
		return err
	}
	defer lease.Unlock(context.Background())
	return writeInvoices(lease.Context())
}

// writeInvoices stops when ctx ends: the lease is about to end, too.
func writeInvoices(ctx context.Context) error { return ctx.Err() }
