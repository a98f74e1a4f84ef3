package redlockslog_test

import (
	"context"
	"log/slog"
	"os"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/redlock/observe/internal/testnode"
	"redlocksim/redlock/observe/redlockslog"
)

// The nodes live in this process here; those of a program come from redlocksim/redlock/goredis.
func Example() {
	// Without the attributes that are never the same twice.
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.TimeKey, "value", "took":
			return slog.Attr{}
		}
		return a
	}}))
	broken := testnode.New("c")
	broken.Down(true)
	nodes := []driver.Node{broken, testnode.New("a"), testnode.New("b")}
	observer := observe.All(redlockslog.New(redlockslog.Options{Logger: logger})) // and others
	client, err := redlock.New(nodes, redlock.WithObserver(observer))
	if err != nil {
		panic(err)
	}

	ctx := context.Background()
	lease, err := client.Lock(ctx, "invoices/2026-11", 10*time.Second)
	if err != nil {
		panic(err)
	}
	lease.Unlock(ctx) // which the broken node refuses as well

	// Output:
	// level=INFO msg="redlock node-answered" resource=invoices/2026-11 attempt=1 op=acquire node=c outcome=refused
}
