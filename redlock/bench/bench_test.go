// Package bench compares the speed of package redlock with that of its peers, on redis-server processes of its own:
//
//	cd bench && go test -bench . -run '^$' | tee speed.txt
//
// It is a module of its own, so that the peers stay out of the dependencies of the library. A contestant is an entry of the
// table contestants, and a condition one of conditions. docs/speed.md says what the figures are.
package bench

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// sharedKeys is how many locks all callers want where they contend.
const sharedKeys = 4

// BenchmarkLock measures one lock and one unlock, by callers that do one after another without a pause.
func BenchmarkLock(b *testing.B) {
	c := startCluster(b)
	for i := range conditions {
		for _, l := range []load{{parallel: 1}, {parallel: 64}, {parallel: 512}, {parallel: 64, contended: true}, {parallel: 512, contended: true}} {
			for j := range contestants {
				on, who := &conditions[i], &contestants[j]
				if who.servers == 1 && !on.isHealthy() {
					continue // without its only server it does nothing
				}
				b.Run(fmt.Sprintf("on=%s/%s/with=%s", on.name, l, who.name), func(b *testing.B) { c.measure(b, on, l, who) })
			}
		}
	}
}

// load is how many callers there are, and whether they want sharedKeys locks or have one each.
type load struct {
	parallel  int
	contended bool
}

func (l load) String() string {
	kind := "uncontended"
	if l.contended {
		kind = "contended"
	}
	return fmt.Sprintf("load=%s/callers=%d", kind, l.parallel)
}

func (l load) key(caller int) string {
	if l.contended {
		caller %= sharedKeys
	}
	return fmt.Sprintf("bench-%d", caller)
}

// measure makes b.N operations with a contestant, after one of each caller that is not counted.
func (c *cluster) measure(b *testing.B, on *condition, l load, who *contestant) {
	c.flush(b)
	stage := c.stage(b, on)
	defer stage.close()
	lock := opened(b, who, stage.addrs)
	defer lock.close()
	lockers := l.lockers(b, lock)
	l.run(b, lockers, l.parallel) // opens the connections, and loads scripts
	stage.inject(b)
	l.run(b, lockers, l.parallel)
	before := c.settled(b)
	runtime.GC()
	b.ReportAllocs()
	b.ResetTimer()
	latencies, failed := l.run(b, lockers, b.N)
	b.StopTimer()
	after := c.settled(b)
	n := float64(b.N)
	b.ReportMetric(time.Duration(latencies.ValueAtQuantile(50)).Seconds()*1e3, "p50-ms")
	b.ReportMetric(time.Duration(latencies.ValueAtQuantile(99)).Seconds()*1e3, "p99-ms")
	b.ReportMetric((after.client-before.client).Seconds()*1e6/n, "client-µs/op")
	b.ReportMetric((after.servers-before.servers).Seconds()*1e6/n, "servers-µs/op")
	b.ReportMetric(float64(after.commands-before.commands)/n, "commands/op")
	b.ReportMetric(float64(failed), "failed")
}

// lockers are what the callers lock with: each its own where they contend, if there can be more than one.
func (l load) lockers(tb testing.TB, lock locker) []locker {
	lockers := make([]locker, l.parallel)
	for caller := range lockers {
		lockers[caller] = lock
		if s, ok := lock.(separable); ok && l.contended {
			lockers[caller] = s.separate(tb)
		}
	}
	return lockers
}

// run has the callers make n operations together, each when it has finished the one before, and says how long each took, in
// nanoseconds, and how many failed.
func (l load) run(tb testing.TB, lockers []locker, n int) (latencies *hdrhistogram.Histogram, failed int) {
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
				err := lockAndUnlock(ctx, lock, l.key(caller))
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

func lockAndUnlock(ctx context.Context, l locker, key string) error {
	h, err := l.lock(ctx, key)
	if err != nil {
		return err
	}
	return h.Unlock(ctx)
}

// heldLocks is how many locks BenchmarkRenewal keeps.
const heldLocks = 1000

// BenchmarkRenewal measures what it costs to keep heldLocks locks, each renewed every third of its TTL. An operation is such
// a third, so that what it takes is always the same, and what counts is the time of processors.
func BenchmarkRenewal(b *testing.B) {
	c := startCluster(b)
	for i := range contestants {
		who := &contestants[i]
		if who.renews {
			b.Run("with="+who.name, func(b *testing.B) { c.renew(b, who, heldLocks) })
		}
	}
}

func (c *cluster) renew(b *testing.B, who *contestant, locks int) {
	c.flush(b)
	lock := opened(b, who, c.addrs())
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
	before := c.count(b)
	b.ResetTimer()
	time.Sleep(time.Duration(b.N) * renewEvery)
	b.StopTimer()
	after := c.count(b)
	release()
	all.Wait()
	n := float64(b.N * locks)
	b.ReportMetric((after.client-before.client).Seconds()*1e6/n, "client-µs/renewal")
	b.ReportMetric((after.servers-before.servers).Seconds()*1e6/n, "servers-µs/renewal")
	b.ReportMetric(float64(after.commands-before.commands)/n, "commands/renewal")
}
