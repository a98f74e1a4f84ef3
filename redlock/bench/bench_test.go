package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// BenchmarkLock measures one lock and one unlock, by callers that do one after another without a pause, each with a lock of its
// own.
func BenchmarkLock(b *testing.B) {
	c := started(b)
	for i := range conditions {
		for _, parallel := range []int{1, 64, 512} {
			for j := range contestants {
				on, who := &conditions[i], &contestants[j]
				if !on.isLasting() || who.servers == 1 && !on.isHealthy() {
					continue // without its only server it does nothing
				}
				b.Run(fmt.Sprintf("on=%s/callers=%d/with=%s", on.name, parallel, who.name), func(b *testing.B) { c.measure(b, on, parallel, who) })
			}
		}
	}
}

// started is a cluster until the end of a test or benchmark, which fails without a redis-server.
func started(tb testing.TB) *cluster {
	c := must[*cluster](tb)(startCluster())
	tb.Cleanup(c.close)
	return c
}

// must is what a function returned, unless it failed.
func must[T any](tb testing.TB) func(T, error) T {
	return func(value T, err error) T {
		tb.Helper()
		check(tb, err)
		return value
	}
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// measure makes b.N operations with a contestant, after one of each caller that is not counted.
func (c *cluster) measure(b *testing.B, on *condition, parallel int, who *contestant) {
	check(b, c.flush(b.Context()))
	stage := must[*stage](b)(c.stage(on))
	defer stage.close()
	lock := must[locker](b)(who.opened(stage.addrs))
	defer lock.close()
	lockers := slices.Repeat([]locker{lock}, parallel)
	repeat(b, lockers, len(lockers)) // opens the connections, and loads scripts
	check(b, stage.inject(b.Context()))
	repeat(b, lockers, len(lockers))
	before := must[counts](b)(c.settled(b.Context()))
	runtime.GC()
	b.ReportAllocs()
	b.ResetTimer()
	latencies, failed := repeat(b, lockers, b.N)
	b.StopTimer()
	after := must[counts](b)(c.settled(b.Context()))
	n := float64(b.N)
	b.ReportMetric(time.Duration(latencies.ValueAtQuantile(50)).Seconds()*1e3, "p50-ms")
	b.ReportMetric(time.Duration(latencies.ValueAtQuantile(99)).Seconds()*1e3, "p99-ms")
	b.ReportMetric((after.client-before.client).Seconds()*1e6/n, "client-µs/op")
	b.ReportMetric((after.servers-before.servers).Seconds()*1e6/n, "servers-µs/op")
	b.ReportMetric(float64(after.commands-before.commands)/n, "commands/op")
	b.ReportMetric(float64(failed), "failed")
}

// repeat has callers, one with each locker, make n operations together, each when it has finished the one before, and says how
// long each took, in nanoseconds, and how many failed.
func repeat(tb testing.TB, lockers []locker, n int) (latencies *hdrhistogram.Histogram, failed int) {
	latencies = hdrhistogram.New(time.Microsecond.Nanoseconds(), time.Minute.Nanoseconds(), 3)
	var (
		left atomic.Int64
		mu   sync.Mutex
		all  sync.WaitGroup
	)
	left.Store(int64(n))
	for caller, lock := range lockers {
		all.Go(func() {
			// A context each, as requests have: children of one context would wait for each other.
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			for left.Add(-1) >= 0 {
				begin := time.Now()
				err := lockAndUnlock(ctx, lock, fmt.Sprintf("bench-%d", caller))
				took := time.Since(begin)
				mu.Lock()
				_ = latencies.RecordValue(took.Nanoseconds()) // none takes longer than the range
				if err != nil {
					if failed++; failed == 1 {
						tb.Log("the first failure:", err)
					}
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return latencies, failed
}

// heldLocks is how many locks BenchmarkRenewal keeps.
const heldLocks = 1000

// BenchmarkRenewal measures what it costs to keep heldLocks locks, each renewed every third of its TTL. An operation is such
// a third, so that what it takes is always the same, and what counts is the time of processors.
func BenchmarkRenewal(b *testing.B) {
	c := started(b)
	for i := range contestants {
		who := &contestants[i]
		if who.renews {
			b.Run("with="+who.name, func(b *testing.B) { c.renew(b, who, heldLocks) })
		}
	}
}

func (c *cluster) renew(b *testing.B, who *contestant, locks int) {
	check(b, c.flush(b.Context()))
	lock := must[locker](b)(who.opened(c.addrs()))
	defer lock.close()
	ctx, release := context.WithCancel(context.Background())
	var all sync.WaitGroup
	var lost atomic.Int64
	for n := range locks {
		granted := make(chan struct{})
		all.Go(func() {
			if err := lock.(holder).hold(ctx, fmt.Sprintf("bench-held-%d", n), func() { close(granted) }); err != nil {
				lost.Add(1)
				b.Error(err)
			}
		})
		<-granted
	}
	time.Sleep(renewEvery * 3 / 2) // until all have been renewed, and between two renewals of most
	before := must[counts](b)(c.count(b.Context()))
	b.ResetTimer()
	time.Sleep(time.Duration(b.N) * renewEvery)
	b.StopTimer()
	after := must[counts](b)(c.count(b.Context()))
	release()
	all.Wait()
	n := float64(b.N * locks)
	b.ReportMetric((after.client-before.client).Seconds()*1e6/n, "client-µs/renewal")
	b.ReportMetric((after.servers-before.servers).Seconds()*1e6/n, "servers-µs/renewal")
	b.ReportMetric(float64(after.commands-before.commands)/n, "commands/renewal")
}
