//go:build linux

// Package load is a process with many clients of a soak, which take locks at random and report what happens.
package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/live/internal/lockclock"
	"redlocksim/live/internal/messages"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
	"redlocksim/scenarios"
)

// Clients are the clients of one process of a soak, which share its connections. Each has a redlock.Client of its own, so
// that all of them contend at the nodes; the callers of one redlock.Client would queue inside it.
type Clients struct {
	*recorder
	role    *messages.SoakRole
	ttl     time.Duration
	redis   []*redis.Client
	clients []*redlock.Client
	before  usage // there was any client

	rest    context.CancelFunc // ends the work under way
	working sync.WaitGroup
	rounds  uint64 // how often they have begun to work
}

// New makes the clients and lets them work. plant, if not nil, wraps the library's view of each node.
func New(r *messages.SoakRole, notices *messages.Writer, plant func(driver.Node) driver.Node) (*Clients, error) {
	c := &Clients{role: r, before: currentUsage(),
		recorder: &recorder{notices: notices, clock: lockclock.NewMonotonic(), index: r.Index}}
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
	for range r.Clients {
		client, err := redlock.New(nodes, append(s.Lock.Options(), redlock.WithObserver(c.recorder))...)
		if err != nil {
			return nil, err
		}
		c.clients = append(c.clients, client)
	}
	c.work()
	return c, nil
}

// Obey carries out an order.
func (c *Clients) Obey(o messages.Order) {
	switch {
	case o.Work:
		c.work()
	case o.Rest:
		c.rest()
		go func() {
			c.working.Wait()
			c.notices.Send(messages.Notice{Rested: true})
		}()
	case o.Take != "":
		go c.take(o.Take, o.Within)
	case o.Leave:
		c.notices.Send(messages.Notice{Left: c.leave()})
	}
}

// work lets every client take locks until the process is told to rest.
func (c *Clients) work() {
	ctx, rest := context.WithCancel(context.Background())
	c.rest = rest
	c.rounds++
	for i, name := range c.role.Workers(c.role.Name) {
		random := rand.New(rand.NewPCG(c.role.Seed, uint64(c.role.Index)<<40|c.rounds<<20|uint64(i)))
		w := &worker{recorder: c.recorder, name: name, client: c.clients[i/c.role.Goroutines], locks: c.role.Locks, ttl: c.ttl,
			random: random}
		c.working.Go(func() { w.work(ctx) })
	}
}

// take acquires a lock and releases it.
func (c *Clients) take(lock string, within time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if t := c.acquire(ctx, c.role.Name+"-"+lock, lock, c.ttl, c.clients[0].Lock); t != nil {
		t.release()
	}
	c.notices.Send(messages.Notice{Taken: lock})
}

// leave closes everything and says what is left.
func (c *Clients) leave() *messages.Leftover {
	c.rest()
	c.working.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), messages.LeaveTimeout)
	defer cancel()
	var err error
	for _, client := range c.clients {
		err = errors.Join(err, client.Close(ctx))
	}
	for _, rc := range c.redis {
		err = errors.Join(err, rc.Close())
	}
	return c.before.left(err)
}
