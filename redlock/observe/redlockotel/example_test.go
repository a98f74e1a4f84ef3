package redlockotel_test

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe/internal/testnode"
	"redlocksim/redlock/observe/redlockotel"
)

// The nodes live in this process here; those of a program come from redlocksim/redlock/goredis. So does its exporter
// send the spans away.
func Example() {
	exporter := tracetest.NewInMemoryExporter()
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter))
	nodes := []driver.Node{testnode.New("a"), testnode.New("b"), testnode.New("c")}
	client, err := redlock.New(nodes, redlock.WithObserver(redlockotel.New(redlockotel.Options{TracerProvider: provider})))
	if err != nil {
		panic(err)
	}

	ctx := context.Background()
	lease, err := client.Lock(ctx, "invoices/2026-11", 10*time.Second)
	if err != nil {
		panic(err)
	}
	lease.Extend(ctx, 20*time.Second)
	lease.Unlock(ctx)

	provider.ForceFlush(ctx)
	for _, s := range exporter.GetSpans() {
		fmt.Println(s.Name)
	}
	// Output:
	// redlock.acquire
	// redlock.extend
	// redlock.release
	// redlock.held
}
