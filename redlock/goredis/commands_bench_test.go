//go:build unix

package goredis_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock"
	"redlocksim/redlock/goredis"
)

// BenchmarkInPlaceOfScripts takes free locks on five servers, extends and releases them, with the commands that these have in
// the place of scripts and without. Beside the time it reports what the servers spend on it: in carrying out commands, as they
// say themselves (INFO commandstats), and in all (INFO cpu). Name a server that has the commands: go run
// ./internal/redisproc/fetch.
func BenchmarkInPlaceOfScripts(b *testing.B) {
	for _, with := range []bool{false, true} {
		var addrs []string
		var admins []*redis.Client
		for range 5 {
			server := redisserver.Start(b)
			addrs, admins = append(addrs, server.Addr), append(admins, newClient(b, server.Addr, nil))
		}
		name := "scripts"
		options := []redlock.Option{redlock.WithNodeTimeout(time.Second)}
		if with {
			name, options = "commands", append(options, redlock.WithOneTTL())
		}
		for _, admin := range admins {
			if with && !hasPlain(b, admin) {
				b.Skip("the servers have no such commands")
			}
			if !with {
				forbidPlain(b, admin)
			}
		}
		for _, parallel := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/parallel=%d", name, parallel), func(b *testing.B) {
				nodes, err := goredis.Open(addrs...)
				if err != nil {
					b.Fatal(err)
				}
				defer nodes.Close()
				client, err := redlock.New(nodes, options...)
				if err != nil {
					b.Fatal(err)
				}
				extends(b, parallel, 4*parallel, client)
				before := spent(b, admins)
				b.ResetTimer()
				extends(b, parallel, b.N, client)
				b.StopTimer()
				after := spent(b, admins)
				b.ReportMetric((after.commands-before.commands)/float64(b.N), "command-µs/op")
				b.ReportMetric((after.cpu-before.cpu)/float64(b.N), "server-µs/op")
				if err := client.Close(b.Context()); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// extends locks, extends and unlocks n times in all.
func extends(b *testing.B, parallel, n int, client *redlock.Client) {
	var left atomic.Int64
	left.Store(int64(n))
	var all sync.WaitGroup
	for i := range parallel {
		all.Go(func() {
			for resource := fmt.Sprint("bench-", i); left.Add(-1) >= 0; {
				lease, err := client.Lock(b.Context(), resource, 10*time.Second)
				if err == nil {
					err = lease.Extend(b.Context(), 10*time.Second)
				}
				if err == nil {
					err = lease.Unlock(b.Context())
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// costs are what servers have spent so far, in microseconds.
type costs struct{ commands, cpu float64 }

// calls are the commands that clients send. What scripts call is counted in the scripts' time as well, and left out.
var calls = regexp.MustCompile(`cmdstat_(?:set|delifeq|delex|eval|evalsha):calls=\d+,usec=(\d+)`)

var cpu = regexp.MustCompile(`(?m)^used_cpu_(?:sys|user):([\d.]+)`)

func spent(b *testing.B, servers []*redis.Client) (all costs) {
	sum := func(text string, of *regexp.Regexp) (total float64) {
		for _, m := range of.FindAllStringSubmatch(text, -1) {
			n, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				b.Fatal(err)
			}
			total += n
		}
		return total
	}
	for _, s := range servers {
		text, err := s.Info(b.Context(), "commandstats").Result()
		if err != nil || !strings.Contains(text, "cmdstat_set:") {
			b.Fatalf("INFO commandstats: %v\n%s", err, text)
		}
		all.commands += sum(text, calls)
		text, err = s.Info(b.Context(), "cpu").Result()
		if err != nil {
			b.Fatal(err)
		}
		all.cpu += 1e6 * sum(text, cpu)
	}
	return all
}
