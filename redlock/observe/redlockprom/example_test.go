package redlockprom_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe/internal/testnode"
	"redlocksim/redlock/observe/redlockprom"
)

// The nodes live in this process here; those of a program come from redlocksim/redlock/goredis.
func Example() {
	metrics := redlockprom.New(redlockprom.Options{
		Resource: func(resource string) string {
			kind, _, _ := strings.Cut(resource, "/")
			return kind
		},
	})
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)
	nodes := []driver.Node{testnode.New("a"), testnode.New("b"), testnode.New("c")}
	client, err := redlock.New(nodes, redlock.WithObserver(metrics))
	if err != nil {
		panic(err)
	}

	ctx := context.Background()
	lease, err := client.Lock(ctx, "invoices/2026-11", 10*time.Second)
	if err != nil {
		panic(err)
	}
	client.TryLock(ctx, "invoices/2026-11", 10*time.Second) // held by another
	lease.Unlock(ctx)

	families, err := registry.Gather()
	if err != nil {
		panic(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() != "redlock_failures_total" {
				continue
			}
			fmt.Println(f.GetName(), m.GetCounter().GetValue())
			for _, l := range m.GetLabel() {
				fmt.Println(" ", l.GetName(), l.GetValue())
			}
		}
	}
	// Output:
	// redlock_failures_total 1
	//   op acquire
	//   reason taken
	//   resource invoices
}
