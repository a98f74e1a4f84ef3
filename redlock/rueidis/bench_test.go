//go:build unix

package rueidis_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
	"redlocksim/redlock/rueidis"
)

// BenchmarkBesideGoredis takes free locks on five servers and releases them, so many at a time, each of its own, by this
// adapter and by that for go-redis, in turns of half a second, on the same servers:
//
//	go test -run '^$' -bench BesideGoredis -benchtime 20x
//
// The times are for a lock and its release, the medians of the turns; ratio is that of the two adapters' times within a turn,
// again the median, and below 1 where this one is faster.
func BenchmarkBesideGoredis(b *testing.B) {
	var addrs []string
	for range 5 {
		addrs = append(addrs, redisserver.Start(b).Addr)
	}
	for _, batching := range []int{1, 4, 64} {
		for _, parallel := range []int{1, 64} {
			b.Run(fmt.Sprintf("batches=%d/parallel=%d", batching, parallel), func(b *testing.B) {
				ours, err := rueidis.Open(addrs...)
				if err != nil {
					b.Fatal(err)
				}
				defer ours.Close()
				theirs, err := goredis.Open(addrs...)
				if err != nil {
					b.Fatal(err)
				}
				defer theirs.Close()
				contestants := [2]*contestant{newContestant(b, ours, batching), newContestant(b, theirs, batching)}
				for _, c := range contestants {
					c.turn(b, parallel, 100*time.Millisecond)
				}
				var times [2][]float64
				var ratios []float64
				b.ResetTimer()
				for turn := range b.N {
					for i := range contestants { // first one begins, then the other
						at := (i + turn) % 2
						times[at] = append(times[at], contestants[at].turn(b, parallel, 500*time.Millisecond))
					}
					ratios = append(ratios, times[0][turn]/times[1][turn])
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median(times[0]), "rueidis-µs")
				b.ReportMetric(median(times[1]), "goredis-µs")
				b.ReportMetric(median(ratios), "ratio")
				b.ReportMetric(contestants[0].allocations(), "rueidis-allocs")
				b.ReportMetric(contestants[1].allocations(), "goredis-allocs")
			})
		}
	}
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

type contestant struct {
	client  *redlock.Client
	locks   int64
	mallocs uint64
}

func newContestant(b *testing.B, nodes []driver.Node, batching int) *contestant {
	client, err := redlock.New(nodes, redlock.WithNodeTimeout(time.Second), redlock.WithBatching(batching))
	if err != nil {
		b.Fatal(err)
	}
	return &contestant{client: client}
}

func (c *contestant) allocations() float64 { return float64(c.mallocs) / float64(c.locks) }

// turn takes locks for that long, and gives how long one took, in microseconds.
func (c *contestant) turn(b *testing.B, parallel int, d time.Duration) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var locks atomic.Int64
	start := time.Now()
	var all sync.WaitGroup
	for i := range parallel {
		all.Go(func() {
			for resource := fmt.Sprint("bench-", i); time.Since(start) < d; locks.Add(1) {
				lease, err := c.client.Lock(b.Context(), resource, 10*time.Second)
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
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	c.locks += locks.Load()
	c.mallocs += after.Mallocs - before.Mallocs
	return float64(took.Microseconds()) / float64(locks.Load())
}
