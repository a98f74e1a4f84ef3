//go:build unix

package goredis_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock"
	"redlocksim/redlock/goredis"
	"redlocksim/redlock/observe"
)

// fiveServers starts five servers.
func fiveServers(b *testing.B) (addrs []string) {
	for range 5 {
		addrs = append(addrs, redisserver.Start(b).Addr)
	}
	return addrs
}

// answers is an observer that counts the commands by their answers.
type answers struct{ atomic.Int64 }

func (a *answers) Observe(_ context.Context, e observe.Event) {
	if e.Step == observe.NodeAnswered {
		a.Add(1)
	}
}

// clientOn makes a client of its own, with connections of its own, and closes it in the end.
func clientOn(b *testing.B, addrs []string, options ...redlock.Option) (client *redlock.Client, end func()) {
	nodes, err := goredis.Open(addrs...)
	if err != nil {
		b.Fatal(err)
	}
	if client, err = redlock.New(nodes, options...); err != nil {
		b.Fatal(err)
	}
	return client, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := errors.Join(client.Close(ctx), nodes.Close()); err != nil {
			b.Error(err)
		}
	}
}

// waitersPatience is how long the waiters of BenchmarkWaiters wait at the most.
const waitersPatience = 10 * time.Second

// BenchmarkWaiters has goroutines of one client wait for one lock, each for 10 s and for work of no length, and reports what
// became of them and what they cost:
//
//	go test ./redlock/goredis -run '^$' -bench Waiters -benchtime 1x
//
// granted and failed-unlocks are numbers of goroutines, s-to-serve is the time until the last of those was served, late-ms
// is by how much the slowest of the others missed its deadline, B/waiter is what each takes while it waits, beyond a goroutine
// that waits for the end of such a context, and commands/grant is counted at the client, for all five nodes.
func BenchmarkWaiters(b *testing.B) {
	addrs := fiveServers(b)
	for _, kind := range []struct {
		name    string
		options []redlock.Option
	}{{"polling", nil}, {"wake-up", []redlock.Option{redlock.WithWakeUp(10 * time.Millisecond)}}} {
		for _, n := range []int{1000, 5000, 100000} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, n), func(b *testing.B) {
				for b.Loop() {
					waitInOneClient(b, addrs, n, kind.options)
				}
			})
		}
	}
}

func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// goroutines is what each of so many goroutines takes that wait for the end of a context.
func goroutines(n int) float64 {
	before := inUse()
	end := make(chan struct{})
	var started atomic.Int64
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
			defer cancel()
			started.Add(1)
			select {
			case <-ctx.Done():
			case <-end:
			}
		})
	}
	for started.Load() < int64(n) {
		time.Sleep(time.Millisecond)
	}
	each := float64(inUse()-before) / float64(n)
	close(end)
	all.Wait()
	return each
}

func waitInOneClient(b *testing.B, addrs []string, waiters int, options []redlock.Option) {
	goroutines(waiters) // the runtime keeps what it needs for so many
	alone := goroutines(waiters)
	var commands answers
	// A node timeout of a second, so that a busy machine loses no release.
	client, end := clientOn(b, addrs, append(options, redlock.WithObserver(&commands), redlock.WithNodeTimeout(time.Second))...)
	defer end()
	first, err := client.Lock(b.Context(), "waiters", time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	before := inUse()
	commands.Store(0)
	var granted, failed, late, waiting atomic.Int64
	var last atomic.Int64 // when the last was served
	began := time.Now()
	var all sync.WaitGroup
	for range waiters {
		all.Go(func() {
			deadline := time.Now().Add(waitersPatience)
			ctx, cancel := context.WithDeadline(context.Background(), deadline)
			defer cancel()
			waiting.Add(1)
			lease, err := client.Lock(ctx, "waiters", time.Minute)
			if err != nil {
				atomicMax(&late, int64(time.Since(deadline)))
				return
			}
			granted.Add(1)
			if err := lease.Unlock(context.Background()); err != nil {
				failed.Add(1)
			}
			atomicMax(&last, int64(time.Since(began)))
		})
	}
	for waiting.Load() < int64(waiters) {
		time.Sleep(time.Millisecond)
	}
	each := float64(inUse()-before) / float64(waiters)
	if err := first.Unlock(context.Background()); err != nil {
		failed.Add(1)
	}
	all.Wait()
	b.ReportMetric(float64(granted.Load()), "granted")
	b.ReportMetric(float64(failed.Load()), "failed-unlocks")
	b.ReportMetric(time.Duration(last.Load()).Seconds(), "s-to-serve")
	b.ReportMetric(float64(late.Load())/1e6, "late-ms")
	b.ReportMetric(each-alone, "B/waiter")
	b.ReportMetric(float64(commands.Load())/float64(max(granted.Load(), 1)), "commands/grant")
}

func atomicMax(to *atomic.Int64, v int64) {
	for old := to.Load(); v > old && !to.CompareAndSwap(old, v); old = to.Load() {
	}
}

// BenchmarkFairness has processes, each a client with eight goroutines and connections of its own, take one lock again and
// again for 10 s, for a millisecond each time, and reports how the grants are shared out:
//
//	go test ./redlock/goredis -run '^$' -bench Fairness -benchtime 1x
//
// min and max are the grants of the processes with the fewest and the most, as a share of an equal part; fairness is Jain's
// index, 1 where all have the same; pause-s is the longest time that a process was without the lock.
func BenchmarkFairness(b *testing.B) {
	addrs := fiveServers(b)
	for _, kind := range []struct {
		name    string
		options []redlock.Option
	}{{"polling", nil}, {"wake-up", []redlock.Option{redlock.WithWakeUp(10 * time.Millisecond)}}} {
		for _, n := range []int{2, 8, 32} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, n), func(b *testing.B) {
				for b.Loop() {
					shareOut(b, addrs, n, kind.options)
				}
			})
		}
	}
}

func shareOut(b *testing.B, addrs []string, processes int, options []redlock.Option) {
	ctx, cancel := context.WithTimeout(b.Context(), 10*time.Second)
	defer cancel()
	grants, pauses := make([]float64, processes), make([]time.Duration, processes)
	var all sync.WaitGroup
	for i := range processes {
		// A node timeout of a second, so that a busy machine loses no release.
		client, end := clientOn(b, addrs, append(options, redlock.WithNodeTimeout(time.Second))...)
		defer end()
		var mu sync.Mutex
		last := time.Now()
		seen := func(isGrant bool) {
			mu.Lock()
			defer mu.Unlock()
			pauses[i] = max(pauses[i], time.Since(last))
			if isGrant {
				last = time.Now()
				grants[i]++
			}
		}
		for range 8 {
			all.Go(func() {
				for ctx.Err() == nil {
					lease, err := client.Lock(ctx, "shared", 10*time.Second)
					if err != nil {
						seen(false)
						continue
					}
					seen(true)
					time.Sleep(time.Millisecond)
					if err := lease.Unlock(context.Background()); err != nil {
						b.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	var sum, squares float64
	for _, g := range grants {
		sum, squares = sum+g, squares+g*g
	}
	part := math.Max(sum/float64(processes), 1)
	b.ReportMetric(sum/10, "grants/s")
	b.ReportMetric(slices.Min(grants)/part, "min")
	b.ReportMetric(slices.Max(grants)/part, "max")
	b.ReportMetric(sum*sum/(float64(processes)*math.Max(squares, 1)), "fairness")
	b.ReportMetric(slices.Max(pauses).Seconds(), "pause-s")
}
