//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"redlocksim/internal/child"
	"redlocksim/internal/redisproc"
	"redlocksim/redlock/goredis"
)

// clusterSize is how many servers a majority is taken of.
const clusterSize = 5

// cluster is the servers that the contestants use. They do not outlive this process.
type cluster struct {
	dir     string
	servers []*server
}

// server is a redis-server, and a connection of the harness's own to it.
type server struct {
	addr    string
	command func() *exec.Cmd
	process *child.Process
	control *redis.Client
	before  counts  // what it had counted when it was last restarted
	stopped *counts // what it had counted when it was stopped; nil while it runs
}

func startCluster() (*cluster, error) {
	program, err := redisproc.Program()
	if err != nil {
		return nil, fmt.Errorf("there is no redis-server on the PATH (Debian package redis-server): %w", err)
	}
	c := &cluster{}
	if c.dir, err = os.MkdirTemp("", "redlock-bench-"); err != nil {
		return nil, err
	}
	for range clusterSize {
		s := &server{addr: redisproc.FreeAddr()}
		s.control = goredis.NewClient(&redis.Options{Addr: s.addr, PoolSize: 1})
		_, port := redisproc.HostAndPort(s.addr)
		s.command = func() *exec.Cmd {
			return child.InOwnGroup(redisproc.RedisServer(program, s.addr, c.dir, nil, "--dbfilename", port+".rdb"))
		}
		if err := s.start(); err != nil {
			c.close()
			return nil, err
		}
		c.servers = append(c.servers, s)
	}
	return c, nil
}

func (s *server) start() error {
	p, err := redisproc.Start(context.Background(), s.command(), redisproc.Answers(s.addr))
	if err == nil {
		s.process = p
	}
	return err
}

// restart ends a server and starts it again. It keeps the locks: those that it forgot could be granted twice.
func (s *server) restart(ctx context.Context) (err error) {
	if s.before, err = s.count(ctx); err != nil {
		return err
	}
	if err := s.control.ShutdownSave(ctx).Err(); err != nil {
		return err
	}
	select {
	case <-s.process.Exited():
		return s.start()
	case <-time.After(redisproc.Patience):
		return errors.New("a server did not shut down")
	}
}

// stop has a server stand still: the kernel goes on accepting connections and data for it.
func (s *server) stop(ctx context.Context) error {
	n, err := s.count(ctx)
	if err != nil {
		return err
	}
	s.stopped = &n
	return s.process.Stop(redisproc.Patience)
}

func (s *server) resume() {
	if s.stopped != nil {
		_ = s.process.Signal(unix.SIGCONT) // if it has exited, the next command to it fails
		s.stopped = nil
	}
}

func (c *cluster) close() {
	for _, s := range c.servers {
		_ = s.control.Close()
		s.process.Kill()
	}
	_ = os.RemoveAll(c.dir)
}

func (c *cluster) addrs() []string {
	addrs := make([]string, len(c.servers))
	for i, s := range c.servers {
		addrs[i] = s.addr
	}
	return addrs
}

// flush removes all keys, also those that a server which was stopped sets late.
func (c *cluster) flush(ctx context.Context) error {
	if _, err := c.settled(ctx); err != nil {
		return err
	}
	for _, s := range c.servers {
		if err := s.control.FlushAll(ctx).Err(); err != nil {
			return err
		}
	}
	return nil
}

// counts are how many commands the servers have executed since they started, all of them together and with those that
// scripts call, and how much processor time they and this process have used.
type counts struct {
	commands        int
	servers, client time.Duration
}

// notOfLocks are the commands that set up a connection, and the harness's own. (The restart guard's script calls INFO, which
// is not counted either.)
var notOfLocks = map[string]bool{"hello": true, "auth": true, "select": true, "client": true, "ping": true, "flushall": true, "info": true, "shutdown": true}

func (c *cluster) count(ctx context.Context) (sum counts, err error) {
	for _, s := range c.servers {
		n, err := s.count(ctx)
		if err != nil {
			return sum, err
		}
		sum.commands += n.commands
		sum.servers += n.servers
	}
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return sum, fmt.Errorf("getrusage: %w", err)
	}
	sum.client = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	return sum, nil
}

func (s *server) count(ctx context.Context) (sum counts, err error) {
	if s.stopped != nil {
		return *s.stopped, nil
	}
	text, err := s.control.Info(ctx, "commandstats", "cpu").Result()
	if err != nil {
		return sum, err
	}
	sum = s.before
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		switch command, isCommand := strings.CutPrefix(name, "cmdstat_"); {
		case isCommand:
			command, _, _ = strings.Cut(command, "|")
			calls, _, _ := strings.Cut(strings.TrimPrefix(value, "calls="), ",")
			n, err := strconv.Atoi(calls)
			if err != nil {
				return sum, fmt.Errorf("INFO commandstats: %s", lines.Text())
			}
			if !notOfLocks[command] {
				sum.commands += n
			}
		case name == "used_cpu_user", name == "used_cpu_sys":
			used, err := time.ParseDuration(value + "s")
			if err != nil {
				return sum, fmt.Errorf("INFO cpu: %s", lines.Text())
			}
			sum.servers += used
		}
	}
	return sum, nil
}

// settling is how long nothing may happen before it counts as over.
const settling = 30 * time.Millisecond

// settled waits until the servers have nothing more to do, since many contestants do not wait for the last answers, and
// counts. It waits for a node timeout at most: after that a contestant has given up.
func (c *cluster) settled(ctx context.Context) (last counts, err error) {
	for range nodeTimeout / settling {
		now, err := c.count(ctx)
		if err != nil || now.commands == last.commands {
			return now, err
		}
		last = now
		time.Sleep(settling)
	}
	return last, nil
}

// condition is what is wrong while a contestant is measured: nothing, or one of these.
type condition struct {
	name, title string
	isSilent    bool // the victim stands still
	// toxic is what a Toxiproxy between the contestant and the victim is told, as JSON; empty if there is none. It runs in this
	// process: what it allocates and computes is counted with the contestant's.
	toxic    string
	restarts int // how many servers restart midway, the victim first
	loops    int // how many endless loops of other processes run beside
}

// slowBy is how much later the replies of a slow server come.
const slowBy = 50 * time.Millisecond

var conditions = []condition{
	{name: "healthy", title: "Every server answers"},
	// Connections stay open, new ones are accepted, and nothing is ever answered.
	{name: "one-silent", title: "One server is silent", isSilent: true},
	{name: "one-slow", title: "One server is slow by 50 ms",
		toxic: fmt.Sprintf(`{"name": "slow", "type": "latency", "stream": "downstream", "attributes": {"latency": %d}}`, slowBy.Milliseconds())},
	{name: "two-restarted", title: "Two servers restart midway", restarts: 2},
	{name: "busy", title: "Four endless loops run beside", loops: 4},
}

// isLasting says whether a condition is of one server at most, and the same all the time.
func (c *condition) isLasting() bool { return c.restarts == 0 && c.loops == 0 }

func (c *condition) isHealthy() bool { return c.toxic == "" && !c.isSilent && c.isLasting() }

// victim is the server that the conditions affect: the one in the middle of the order in which a library might ask.
const victim = clusterSize / 2

// stage is the servers as contestants reach them in a condition, which begins with inject.
type stage struct {
	*condition
	cluster *cluster
	addrs   []string
	proxy   *toxiproxy.Proxy // nil without a toxic
	running []*child.Process // the loops
}

func (c *cluster) stage(in *condition) (*stage, error) {
	s := &stage{condition: in, cluster: c, addrs: c.addrs()}
	if in.toxic == "" {
		return s, nil
	}
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	s.proxy = toxiproxy.NewProxy(server, in.name, "127.0.0.1:0", s.addrs[victim])
	if err := s.proxy.Start(); err != nil {
		return nil, fmt.Errorf("toxiproxy: %w", err)
	}
	s.addrs[victim] = s.proxy.Listen
	return s, nil
}

func (s *stage) inject(ctx context.Context) error {
	if s.isSilent {
		return s.cluster.servers[victim].stop(ctx)
	}
	for range s.loops {
		p, err := child.Start(exec.Command("sh", "-c", "while :; do :; done"))
		if err != nil {
			return err
		}
		s.running = append(s.running, p)
	}
	if s.proxy == nil {
		return nil
	}
	if _, err := s.proxy.Toxics.AddToxicJson(strings.NewReader(s.toxic)); err != nil {
		return fmt.Errorf("toxiproxy: %w", err)
	}
	return nil
}

// midway does what happens in the middle.
func (s *stage) midway(ctx context.Context) error {
	var all errgroup.Group
	for i := range s.restarts {
		all.Go(func() error { return s.cluster.servers[victim+i].restart(ctx) })
	}
	return all.Wait()
}

// close ends what is wrong, and breaks the connections through the proxy.
func (s *stage) close() {
	s.cluster.servers[victim].resume()
	for _, p := range s.running {
		p.Kill()
	}
	if s.proxy != nil {
		s.proxy.Stop()
	}
}
