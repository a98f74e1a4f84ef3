package random_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/jobs"
	"redlocksim/internal/redisserver"
	"redlocksim/internal/workers"
	"redlocksim/search/experiment"
	"redlocksim/search/random"
)

// BenchmarkExplore measures what explore does by default: generations of runs of 30 virtual seconds, each with settings of its
// own, and how many locks are granted in a run; on one core and two, and by one worker, two and six of a redis-server, which
// are in this process.
func BenchmarkExplore(b *testing.B) {
	for _, n := range []int{1, 2} {
		b.Run(fmt.Sprintf("here-%d", n), func(b *testing.B) { explore(b, random.Options{Jobs: n}) })
	}
	for _, n := range []int{1, 2, 6} {
		b.Run(fmt.Sprintf("workers-%d", n), func(b *testing.B) {
			byWorkers(b, n, random.Jobs(nil), func(o random.Options) int { return explore(b, o) })
		})
	}
}

// byWorkers makes runs by workers of a redis-server, in this process, and reports what that takes of the Redis.
func byWorkers(b *testing.B, n int, kinds []jobs.Served, explore func(random.Options) (runs int)) {
	server := redisserver.Start(b)
	at, err := workers.ParseAddress("redis://" + server.Addr)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	for range n {
		all.Go(func() {
			if err := (&workers.Worker{Address: at, Build: "bench", Jobs: 1, Kinds: kinds}).Serve(ctx); err != nil {
				b.Error(err)
			}
		})
	}
	pool, err := workers.Open(ctx, at, "bench", func(string) {})
	if err != nil {
		b.Fatal(err)
	}
	defer pool.Close()
	for pool.Slots(ctx) < n {
		time.Sleep(10 * time.Millisecond)
	}
	before := infoOf(b, server.Addr, "total_commands_processed")
	runs := explore(random.Options{Elsewhere: pool})
	b.ReportMetric((infoOf(b, server.Addr, "total_commands_processed")-before)/float64(runs), "commands/run")
	b.ReportMetric(infoOf(b, server.Addr, "used_memory_peak")/1024, "KiB-at-Redis")
}

// infoOf is a number that a Redis tells of itself.
func infoOf(b *testing.B, address, name string) float64 {
	client := redis.NewClient(&redis.Options{Addr: address})
	defer client.Close()
	text, err := client.Info(b.Context(), "stats", "memory").Result()
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(text) {
		if key, value, _ := strings.Cut(strings.TrimSpace(line), ":"); key == name {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
	}
	b.Fatalf("the Redis does not tell %s", name)
	return 0
}

func explore(b *testing.B, o random.Options) (runs int) {
	space := experiment.NewSpace(experiment.DefaultBase())
	space.Swarm = true
	grants := 0
	b.ReportAllocs()
	for b.Loop() {
		o.Runs = 1000
		s, err := random.Explore(context.Background(), space, o)
		if err != nil {
			b.Fatal(err)
		}
		if s.Violations > 0 {
			b.Fatal("a violation")
		}
		runs += s.Runs
		grants += s.Grants
		o.Seed++
	}
	b.ReportMetric(float64(runs)/b.Elapsed().Seconds(), "runs/s")
	b.ReportMetric(float64(grants)/float64(runs), "grants/run")
	b.ReportMetric(0, "ns/op")
	return runs
}
