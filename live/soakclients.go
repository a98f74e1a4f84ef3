//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
	"redlocksim/scenarios"
)

// leaveTimeout is how long a process waits for what it has closed to end. A go-redis pool that could not reach its server
// leaves a probe behind for about a second.
const leaveTimeout = 5 * time.Second

// soakClients are the clients of one process of a soak, which share its connections. Each has a redlock.Client of its own, so
// that all of them contend at the nodes; the callers of one redlock.Client would queue inside it.
type soakClients struct {
	soakRole
	notices *noticeWriter
	ttl     time.Duration
	clock   lockClock
	redis   []*redis.Client
	clients []*redlock.Client
	ops     atomic.Int64

	rest    context.CancelFunc // ends the work under way
	working sync.WaitGroup
	rounds  uint64 // how often they have begun to work

	goroutines, sockets int // before there was any client
}

// newSoakClients makes the clients and lets them work. plant, if not nil, wraps the library's view of each node.
func newSoakClients(r *soakRole, p *noticeWriter, plant func(driver.Node) driver.Node) (*soakClients, error) {
	c := &soakClients{soakRole: *r, notices: p, clock: newMonotonic(),
		goroutines: runtime.NumGoroutine(), sockets: sockets()}
	all, err := scenarios.Parse("soak.yaml", []byte(r.Settings))
	if err != nil {
		return nil, err
	}
	s := all[0]
	c.ttl = s.Lock.TTL
	var nodes []driver.Node
	for i, addr := range r.Nodes {
		rc := goredis.NewClient(&redis.Options{Addr: addr})
		c.redis = append(c.redis, rc)
		n, err := goredis.NewNode(rc, goredis.Name(s.Nodes.Names[i]))
		if err != nil {
			return nil, err
		}
		if nodes = append(nodes, n); plant != nil {
			nodes[i] = plant(n)
		}
	}
	for range c.Clients {
		client, err := redlock.New(nodes, append(s.Lock.Options(), redlock.WithObserver(c))...)
		if err != nil {
			return nil, err
		}
		c.clients = append(c.clients, client)
	}
	c.work()
	return c, nil
}

// obey carries out an order.
func (c *soakClients) obey(o order) {
	switch {
	case o.Work:
		c.work()
	case o.Rest:
		c.rest()
		go func() {
			c.working.Wait()
			c.notices.send(notice{Rested: true})
		}()
	case o.Take != "":
		go c.take(o.Take, o.Within)
	case o.Leave:
		c.notices.send(notice{Left: c.leave()})
	}
}

// work lets every client take locks until the process is told to rest.
func (c *soakClients) work() {
	ctx, rest := context.WithCancel(context.Background())
	c.rest = rest
	c.rounds++
	for i, name := range c.workers(c.Name) {
		random := rand.New(rand.NewPCG(c.Seed, uint64(c.Index)<<40|c.rounds<<20|uint64(i)))
		c.working.Go(func() {
			for ctx.Err() == nil {
				sleep(ctx, time.Duration(random.Int64N(int64(longestPause))))
				if ctx.Err() == nil {
					c.useLock(ctx, c.clients[i/c.Goroutines], name, random)
				}
			}
		})
	}
}

// longestPause is the longest time from one lock of a client to the next.
const longestPause = 400 * time.Millisecond

// take acquires a lock and releases it.
func (c *soakClients) take(lock string, within time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if t := c.acquire(ctx, c.Name+"-"+lock, lock, c.clients[0].Lock); t != nil {
		t.release()
	}
	c.notices.send(notice{Taken: lock})
}

// newOp numbers an operation. No two processes use the same numbers.
func (c *soakClients) newOp() int { return c.Index<<32 | int(c.ops.Add(1)) }

// leave closes everything and says what is left.
func (c *soakClients) leave() *leftover {
	c.rest()
	c.working.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	var err error
	for _, client := range c.clients {
		err = errors.Join(err, client.Close(ctx))
	}
	for _, rc := range c.redis {
		err = errors.Join(err, rc.Close())
	}
	l := &leftover{}
	for deadline := time.Now().Add(leaveTimeout); ; time.Sleep(10 * time.Millisecond) {
		*l = leftover{Goroutines: max(runtime.NumGoroutine()-c.goroutines, 0), Connections: max(sockets()-c.sockets, 0)}
		if l.Goroutines+l.Connections == 0 && err == nil {
			return l
		}
		if err != nil || time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			l.Stacks = strings.TrimSpace(fmt.Sprintln(err, string(stacks[:runtime.Stack(stacks, true)])))
			return l
		}
	}
}

// sockets is how many sockets the process has open.
func sockets() int {
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		return 0
	}
	n := 0
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// sleep lets time pass, until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
