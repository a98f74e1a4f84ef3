//go:build unix

package goredis_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock"
	"redlocksim/redlock/goredis"
)

// BenchmarkLock takes a free lock on five servers and releases it, so many at a time, each of its own.
func BenchmarkLock(b *testing.B) {
	var addrs []string
	for range 5 {
		addrs = append(addrs, redisserver.Start(b).Addr)
	}
	kinds := []struct {
		name    string
		options []redlock.Option
	}{
		{"plain", nil},
		{"batches=1", []redlock.Option{redlock.WithBatching(1)}},
		{"guard", []redlock.Option{redlock.WithRestartGuard(redlock.Guard{MaxTTL: time.Minute})}},
		{"guard,batches=1", []redlock.Option{redlock.WithRestartGuard(redlock.Guard{MaxTTL: time.Minute}), redlock.WithBatching(1)}},
	}
	for _, kind := range kinds {
		for _, parallel := range []int{1, 64, 512} {
			b.Run(fmt.Sprintf("%s/parallel=%d", kind.name, parallel), func(b *testing.B) {
				nodes, err := goredis.Open(addrs...)
				if err != nil {
					b.Fatal(err)
				}
				defer nodes.Close()
				client, err := redlock.New(nodes, append(kind.options, redlock.WithNodeTimeout(time.Second))...)
				if err != nil {
					b.Fatal(err)
				}
				if strings.HasPrefix(kind.name, "guard") {
					if err := client.PrepareGuard(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
				inParallel(b, parallel, 2*parallel, client)
				b.ReportAllocs()
				b.ResetTimer()
				inParallel(b, parallel, b.N, client)
				b.StopTimer()
				if err := client.Close(b.Context()); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// inParallel locks and unlocks n times in all.
func inParallel(b *testing.B, parallel, n int, client *redlock.Client) {
	var left atomic.Int64
	left.Store(int64(n))
	var all sync.WaitGroup
	for i := range parallel {
		all.Go(func() {
			for resource := fmt.Sprint("bench-", i); left.Add(-1) >= 0; {
				lease, err := client.Lock(b.Context(), resource, 10*time.Second)
				if err != nil {
					b.Error(err)
					return
				}
				if err := lease.Unlock(b.Context()); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}
