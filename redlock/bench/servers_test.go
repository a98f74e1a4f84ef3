package bench

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock/goredis"
)

// clusterSize is how many servers a majority is taken of.
const clusterSize = 5

// cluster is the servers that the contestants use, and a connection of the harness's own to each.
type cluster struct {
	servers []*redisserver.Server
	control []*redis.Client
}

func startCluster(tb testing.TB) *cluster {
	c := &cluster{}
	for range clusterSize {
		s := redisserver.Start(tb)
		control := goredis.NewClient(&redis.Options{Addr: s.Addr, PoolSize: 1})
		tb.Cleanup(func() { _ = control.Close() })
		c.servers, c.control = append(c.servers, s), append(c.control, control)
	}
	return c
}

func (c *cluster) addrs() []string {
	addrs := make([]string, len(c.servers))
	for i, s := range c.servers {
		addrs[i] = s.Addr
	}
	return addrs
}

func (c *cluster) flush(tb testing.TB) {
	for _, control := range c.control {
		if err := control.FlushAll(tb.Context()).Err(); err != nil {
			tb.Fatal(err)
		}
	}
}

// counts are how many commands the servers have executed since they started, all of them together and with those that
// scripts call, and how much processor time they and this process have used.
type counts struct {
	commands        int
	servers, client time.Duration
}

// notOfLocks are the commands that set up a connection, and the harness's own. (The restart guard's script calls INFO, which
// is not counted either.)
var notOfLocks = map[string]bool{"hello": true, "auth": true, "select": true, "client": true, "ping": true, "flushall": true, "info": true}

func (c *cluster) count(tb testing.TB) (sum counts) {
	for _, control := range c.control {
		text, err := control.Info(tb.Context(), "commandstats", "cpu").Result()
		if err != nil {
			tb.Fatal(err)
		}
		for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ":")
			switch command, isCommand := strings.CutPrefix(name, "cmdstat_"); {
			case isCommand:
				command, _, _ = strings.Cut(command, "|")
				calls, _, _ := strings.Cut(strings.TrimPrefix(value, "calls="), ",")
				n, err := strconv.Atoi(calls)
				if err != nil {
					tb.Fatalf("INFO commandstats: %s", lines.Text())
				}
				if !notOfLocks[command] {
					sum.commands += n
				}
			case name == "used_cpu_user", name == "used_cpu_sys":
				used, err := time.ParseDuration(value + "s")
				if err != nil {
					tb.Fatalf("INFO cpu: %s", lines.Text())
				}
				sum.servers += used
			}
		}
	}
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		tb.Fatal("getrusage:", err)
	}
	sum.client = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	return sum
}

// settling is how long nothing may happen before it counts as over.
const settling = 30 * time.Millisecond

// settled waits until the servers have nothing more to do, since many contestants do not wait for the last answers, and
// counts. It waits for a node timeout at most: after that a contestant has given up.
func (c *cluster) settled(tb testing.TB) (last counts) {
	for range nodeTimeout / settling {
		now := c.count(tb)
		if now.commands == last.commands {
			return now
		}
		last = now
		time.Sleep(settling)
	}
	return last
}

// condition is what is wrong with one server, the victim, while a contestant is measured.
type condition struct {
	name string
	// toxic is what a Toxiproxy between the contestant and the victim is told, as JSON; empty if nothing is wrong. It runs in
	// this process: what it allocates and computes is counted with the contestant's.
	toxic string
}

// slowBy is how much later the replies of a slow server come.
const slowBy = 50 * time.Millisecond

var conditions = []condition{
	{name: "healthy"},
	// Connections stay open, new ones are accepted, and no request reaches the server or is ever answered.
	{name: "one-silent", toxic: `{"name": "silent", "type": "timeout", "stream": "upstream", "attributes": {"timeout": 0}}`},
	{name: "one-slow", toxic: fmt.Sprintf(`{"name": "slow", "type": "latency", "stream": "downstream", "attributes": {"latency": %d}}`, slowBy.Milliseconds())},
}

func (c *condition) isHealthy() bool { return c.toxic == "" }

// victim is the server that the conditions affect: the one in the middle of the order in which a library might ask.
const victim = clusterSize / 2

// stage is the servers as contestants reach them in a condition, which begins with inject.
type stage struct {
	addrs []string
	toxic string
	proxy *toxiproxy.Proxy // nil in the healthy condition
}

func (c *cluster) stage(tb testing.TB, in *condition) *stage {
	s := &stage{addrs: c.addrs(), toxic: in.toxic}
	if in.isHealthy() {
		return s
	}
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	s.proxy = toxiproxy.NewProxy(server, in.name, "127.0.0.1:0", s.addrs[victim])
	if err := s.proxy.Start(); err != nil {
		tb.Fatal("toxiproxy:", err)
	}
	s.addrs[victim] = s.proxy.Listen
	return s
}

func (s *stage) inject(tb testing.TB) {
	if s.proxy == nil {
		return
	}
	if _, err := s.proxy.Toxics.AddToxicJson(strings.NewReader(s.toxic)); err != nil {
		tb.Fatal("toxiproxy:", err)
	}
}

// close breaks the connections through the proxy.
func (s *stage) close() {
	if s.proxy != nil {
		s.proxy.Stop()
	}
}
